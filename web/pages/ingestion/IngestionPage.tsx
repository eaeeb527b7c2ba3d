// The ingestion log: accepted and rejected requests of the last seven days, summed and by minute, without payloads.
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useLive } from "../../live.ts";
import { ingestionKey, ingestionQuery, ingestionSummaryQuery, logDelayMs } from "../../queries/ingestion.ts";
import { useRefresh } from "../../refreshing.ts";
import "../../styles/ingestion.css";
import { InvalidFilters } from "../../ui/InvalidFilters.tsx";
import { Page } from "../../ui/Page.tsx";
import { EmptyState, Loaded, MorePages } from "../../ui/State.tsx";
import { Filters } from "./Filters.tsx";
import { Minutes } from "./Minutes.tsx";
import { Codes, Services } from "./Summary.tsx";
import { faultsOf, filtersOf, hoursOf } from "./search.ts";

const route = getRouteApi("/member/projects/$projectId/ingestion");

/** Accepted requests send no event, so the page polls. */
const pollMs = 10_000;
/** A list of more pages is not polled: every poll reads all its pages. */
const polledPagesMax = 3;

export function IngestionPage() {
  const { projectId } = route.useParams();
  // The key keeps one project's rows from showing while another's load.
  return <Log key={projectId} projectId={projectId} />;
}

function Log({ projectId }: { projectId: string }) {
  const search = route.useSearch();
  const hours = hoursOf(search.time);
  // The old rows stay until the rows of a new filter have loaded.
  const summary = useQuery({
    ...ingestionSummaryQuery(projectId, hours),
    refetchInterval: pollMs,
    placeholderData: keepPreviousData,
  });
  const minutes = useInfiniteQuery({
    ...ingestionQuery(projectId, filtersOf(search), hours),
    refetchInterval: ({ state }) => (state.data?.pages.length ?? 0) <= polledPagesMax && pollMs,
    placeholderData: keepPreviousData,
  });
  useRejections(projectId);
  const isFiltered = Object.values(search).some(value => value !== undefined);
  const faults = faultsOf(search);
  // What is wrong with the URL is said along with the link that clears it.
  const isClearable = isFiltered && faults.length === 0;
  return (
    <Page
      title="Ingestion log"
      about="Requests sent with a valid key in the last 7 days, counted by result. Payloads are not kept. Requests without a valid key are answered 401 and not listed."
    >
      <div className="stack">
        <InvalidFilters faults={faults} />
        <Loaded query={summary}>
          {sums =>
            sums.codes.length === 0 && !isFiltered ? (
              <EmptyState icon="log" title="No requests in the last 7 days">
                <p className="quiet">
                  An agent’s Get started page has the commands to send traces, and shows each result
                  immediately.
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
                <Filters projectId={projectId} sums={sums} isClearable={isClearable} />
                <div className="ingestion-sums">
                  <Codes sums={sums} />
                  <Services projectId={projectId} sums={sums} />
                </div>
                <section className="stack-tight" aria-labelledby="ingestion-minutes">
                  <h2 id="ingestion-minutes">By minute</h2>
                  <Loaded query={minutes}>
                    {items => (
                      <>
                        <Minutes projectId={projectId} items={items} isClearable={isClearable} />
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

/** Reads again soon after a request was rejected. */
function useRejections(projectId: string): void {
  const queries = useQueryClient();
  const readAgain = () => queries.invalidateQueries({ queryKey: ingestionKey(projectId) });
  const readSoon = useRefresh(readAgain, logDelayMs);
  useLive({ projectId }, ({ type }) => {
    if (type === "refresh") void readAgain();
    else if (type === "ingestion") readSoon();
  });
}
