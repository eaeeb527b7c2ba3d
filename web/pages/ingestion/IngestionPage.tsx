// The ingestion log: seven days of what was accepted and refused, summed and by the minute, without payloads.
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useLive } from "../../live.ts";
import { ingestionKey, ingestionQuery, ingestionSummaryQuery, writtenMs } from "../../queries/ingestion.ts";
import { useRefresh } from "../../refreshing.ts";
import "../../styles/ingestion.css";
import { Page } from "../../ui/Page.tsx";
import { EmptyState, Loaded, MorePages } from "../../ui/State.tsx";
import { Filters } from "./Filters.tsx";
import { Minutes } from "./Minutes.tsx";
import { Codes, Services } from "./Summary.tsx";
import { filtersOf, hoursOf } from "./search.ts";

const route = getRouteApi("/member/projects/$projectId/ingestion");

/** What is accepted tells nobody: it is looked for. */
const lookAgainMs = 10_000;
/** A list that has grown longer is not read again as a whole by itself. */
const pagesMax = 3;

export function IngestionPage() {
  const { projectId } = route.useParams();
  // Nothing of one project is shown in another's place.
  return <Log key={projectId} projectId={projectId} />;
}

function Log({ projectId }: { projectId: string }) {
  const search = route.useSearch();
  const hours = hoursOf(search.time);
  // What was there stays until what another filter finds is there.
  const summary = useQuery({
    ...ingestionSummaryQuery(projectId, hours),
    refetchInterval: lookAgainMs,
    placeholderData: keepPreviousData,
  });
  const minutes = useInfiniteQuery({
    ...ingestionQuery(projectId, filtersOf(search), hours),
    refetchInterval: ({ state }) => (state.data?.pages.length ?? 0) <= pagesMax && lookAgainMs,
    placeholderData: keepPreviousData,
  });
  useFollow(projectId);
  const isFiltered = Object.values(search).some(value => value !== undefined);
  return (
    <Page
      title="Ingestion log"
      about="How requests with a valid key ended in the last seven days: counts, and nothing of what was in them. Whatever came without one was answered 401 and belongs to no project."
    >
      <div className="stack">
        <Loaded query={summary}>
          {sums =>
            sums.codes.length === 0 && !isFiltered ? (
              <EmptyState icon="log" title="Nothing was sent in the last seven days">
                <p className="quiet">
                  Each agent’s “Get started” has what to send, and says at once what becomes of it.
                </p>
                <Link
                  to="/projects/$projectId/agents"
                  params={{ projectId }}
                  className="button"
                  data-look="main"
                >
                  Choose an agent
                </Link>
              </EmptyState>
            ) : (
              <>
                <Filters projectId={projectId} sums={sums} />
                <div className="ingestion-sums">
                  <Codes sums={sums} />
                  <Services projectId={projectId} sums={sums} />
                </div>
                <section className="stack-tight" aria-labelledby="ingestion-minutes">
                  <h2 id="ingestion-minutes">By the minute</h2>
                  <Loaded query={minutes}>
                    {items => (
                      <>
                        <Minutes projectId={projectId} items={items} isFiltered={isFiltered} />
                        <MorePages query={minutes} />
                      </>
                    )}
                  </Loaded>
                </section>
              </>
            )
          }
        </Loaded>
      </div>
    </Page>
  );
}

/** Reads again soon after something was refused. */
function useFollow(projectId: string): void {
  const queries = useQueryClient();
  const readAgain = () => queries.invalidateQueries({ queryKey: ingestionKey(projectId) });
  const readSoon = useRefresh(readAgain, writtenMs);
  useLive({ projectId }, ({ type }) => {
    if (type === "refresh") void readAgain();
    else if (type === "ingestion") readSoon();
  });
}
