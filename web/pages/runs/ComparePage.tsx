// Page that compares two runs (launches) of an agent side by side: pass rates, and what broke or was fixed, by test and input.
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import type { Launch, LaunchComparison } from "../../../src/http/test-cases/launch-schemas.ts";
import { failureOf } from "../../api.ts";
import { momentText } from "../../format.ts";
import { counted } from "../../labels.ts";
import { useLive } from "../../live.ts";
import { comparisonQuery, launchesQuery, launchQuery } from "../../queries/launches.ts";
import { useRefresh } from "../../refreshing.ts";
import { NotFound } from "../../shell/NotFound.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Page } from "../../ui/Page.tsx";
import { PassRate, PassRateLine } from "../../ui/PassRate.tsx";
import { EmptyState, Loaded, MorePages } from "../../ui/State.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { ComparedTests } from "./ComparedTests.tsx";
import { differenceText, haveNothingInCommon } from "./comparison.ts";
import { countsOfLaunch, LaunchStateBadge, Progress } from "./Progress.tsx";
import "../../styles/runs.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/runs/$launchId/compare");

export type CompareParams = { projectId: string; agentId: string; launchId: string };

export function ComparePage() {
  const params = route.useParams();
  const { agentId, launchId } = params;
  const { with: other } = route.useSearch();
  const queries = useQueryClient();
  const launch = useQuery(launchQuery(launchId));
  const refresh = useRefresh(() => queries.invalidateQueries({ queryKey: launchQuery(launchId).queryKey }));
  useLive({ agentId }, event => {
    const isOneOfThem = event.type === "launch" && (event.launchId === launchId || event.launchId === other);
    if (event.type === "refresh" || isOneOfThem) refresh();
  });
  if (launch.error && failureOf(launch.error).code === "NOT_FOUND") return <NotFound />;
  return (
    <Page
      title="Compare runs"
      about={
        launch.data && (
          <Link to="/projects/$projectId/agents/$agentId/runs/$launchId" params={params}>
            Back to the run of {counted(launch.data.testCount, "test")}
          </Link>
        )
      }
    >
      <div className="stack">
        <Picker params={params} other={other} />
        {other !== undefined && <Comparison params={params} other={other} />}
      </div>
    </Page>
  );
}

/** The agent's other runs, newest first. */
function Picker({ params, other }: { params: CompareParams; other: string | undefined }) {
  const launches = useInfiniteQuery(launchesQuery(params.agentId));
  const navigate = useNavigate({ from: "/projects/$projectId/agents/$agentId/runs/$launchId/compare" });
  return (
    <Loaded query={launches}>
      {found => {
        const others = found.filter(({ id }) => id !== params.launchId);
        if (others.length === 0 && other === undefined) {
          return (
            <EmptyState icon="play" title="No other run to compare with">
              <p className="quiet">Run the same tests again, for example after a change of the agent.</p>
            </EmptyState>
          );
        }
        return (
          <div className="line runs-picker">
            <label className="field">
              <span>Compare with</span>
              <select
                className="input"
                value={other ?? ""}
                onChange={({ target }) =>
                  void navigate({
                    search: was => ({ ...was, with: target.value, test: undefined }),
                    replace: true,
                  })
                }
              >
                {other === undefined && <option value="">Choose a run</option>}
                {other !== undefined && others.every(({ id }) => id !== other) && (
                  <option value={other}>An older run</option>
                )}
                {others.map(launch => (
                  <option key={launch.id} value={launch.id}>
                    {optionText(launch)}
                  </option>
                ))}
              </select>
            </label>
            <MorePages query={launches} />
          </div>
        );
      }}
    </Loaded>
  );
}

/** "Nov 21, 2026, 11:34 PM: 8 tests, 7 passed, 1 failed". */
function optionText(launch: Launch): string {
  return `${momentText(launch.createdAt)}: ${counted(launch.testCount, "test")}, ${countsOfLaunch(launch)}`;
}

function Comparison({ params, other }: { params: CompareParams; other: string }) {
  const { change, test } = route.useSearch();
  const compared = useInfiniteQuery(comparisonQuery(params.launchId, other, { change, testId: test }));
  if (compared.error && failureOf(compared.error).code === "NOT_FOUND") {
    return (
      <EmptyState icon="search" title="Run not found">
        <p className="quiet">The other run was deleted or belongs to another agent. Choose another one.</p>
      </EmptyState>
    );
  }
  return (
    <>
      <Loaded query={compared}>
        {({ pages }) => (
          <>
            <Sides comparison={pages[0]!} params={params} />
            {haveNothingInCommon(pages[0]!.changes) && (
              <Notice tone="info">These runs have no test and input in common.</Notice>
            )}
            <ComparedTests pages={pages} params={params} change={change} />
          </>
        )}
      </Loaded>
      <MorePages query={compared} />
    </>
  );
}

/** The other run, this one, and how many pairs of the same test and input broke or were fixed. */
function Sides({ comparison, params }: { comparison: LaunchComparison; params: CompareParams }) {
  const { launch, with: other, difference } = comparison;
  const text = differenceText(difference);
  const areOpen = [launch, other].some(({ state }) => state === "queued" || state === "running");
  return (
    <section className="stack-tight" aria-label="Both runs">
      <div className="runs-sides">
        <Side title="Other run" launch={other} params={params} />
        <Side title="This run" launch={launch} params={params} />
      </div>
      {text !== undefined && (
        <p role="status">
          <b>{text}</b>
          {!difference.significant && <span className="quiet">, which may be chance</span>}
        </p>
      )}
      {areOpen && <p className="quiet small">Still running: the comparison is updated.</p>}
      {Date.parse(other.createdAt) > Date.parse(launch.createdAt) && (
        <p className="quiet small">
          The other run is newer.{" "}
          <Link
            to="/projects/$projectId/agents/$agentId/runs/$launchId/compare"
            params={{ ...params, launchId: other.id }}
            search={{ with: launch.id }}
          >
            Swap
          </Link>
        </p>
      )}
    </section>
  );
}

type SideProps = { title: string; launch: Launch; params: CompareParams };

function Side({ title, launch, params }: SideProps) {
  return (
    <div className="card stack-tight">
      <div className="line line-apart">
        <h2>{title}</h2>
        <LaunchStateBadge launch={launch} />
      </div>
      <p className="small">
        <Link
          to="/projects/$projectId/agents/$agentId/runs/$launchId"
          params={{ ...params, launchId: launch.id }}
        >
          Run of {counted(launch.testCount, "test")}
        </Link>
        <span className="quiet">
          {" "}
          started <RelativeTime at={launch.createdAt} />
        </span>
      </p>
      <div className="line">
        <Progress launch={launch} />
      </div>
      <p className="small">{countsOfLaunch(launch)}</p>
      {title === "This run" ? <PassRateLine rate={launch.passRate} /> : <PassRate rate={launch.passRate} />}
    </div>
  );
}
