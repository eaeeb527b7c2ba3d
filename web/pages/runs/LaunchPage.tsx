// Page of one run (a launch): progress, the test runs compared with the previous ones, cancel and rerun.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import type { LaunchDetail, LaunchedRun } from "../../../src/http/test-cases/launch-schemas.ts";
import { type Failure, failureOf } from "../../api.ts";
import { numberText } from "../../format.ts";
import { Reevaluate } from "../../forms/Reevaluate.tsx";
import { useLaunch } from "../../forms/use-launch.tsx";
import { counted, launchSources } from "../../labels.ts";
import { useLive } from "../../live.ts";
import { cancelLaunch } from "../../mutations/launches.ts";
import { launchesQuery, launchQuery } from "../../queries/launches.ts";
import { useRefresh } from "../../refreshing.ts";
import { NotFound } from "../../shell/NotFound.tsx";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Page } from "../../ui/Page.tsx";
import { EmptyState, Loaded } from "../../ui/State.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { countsOfLaunch, LaunchStateBadge, Progress, ProgressNews } from "./Progress.tsx";
import { RunTable } from "./RunTable.tsx";
import "../../styles/runs.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/runs/$launchId");

export function LaunchPage() {
  const params = route.useParams();
  const { agentId, launchId } = params;
  const queries = useQueryClient();
  const launch = useQuery(launchQuery(launchId));
  const refresh = useRefresh(() => queries.invalidateQueries({ queryKey: launchQuery(launchId).queryKey }));
  useLive({ agentId }, event => {
    if (event.type === "refresh" || (event.type === "launch" && event.launchId === launchId)) refresh();
  });
  if (launch.error && failureOf(launch.error).code === "NOT_FOUND") return <NotFound />;
  return (
    <Page
      title={launch.data ? `Run of ${counted(launch.data.testCount, "test")}` : "Run"}
      about={launch.data && <About launch={launch.data} />}
      actions={launch.data && !isOpen(launch.data) && <Actions launch={launch.data} params={params} />}
    >
      <Loaded query={launch}>
        {found => (
          <div className="stack">
            <section className="card stack-tight" aria-label="Progress" tabIndex={-1}>
              <div className="line runs-standing">
                <LaunchStateBadge launch={found} />
                <span>{countsOfLaunch(found)}</span>
                {isOpen(found) && <Cancel launch={found} />}
              </div>
              <Progress launch={found} />
              <ProgressNews launch={found} />
              <DeletedRuns launch={found} />
            </section>
            {!isOpen(found) && <NotFullyEvaluated launch={found} params={params} />}
            <Runs launch={found} params={params} />
            <MissingTraces launch={found} params={params} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function About({ launch }: { launch: LaunchDetail }) {
  return (
    <>
      Started <RelativeTime at={launch.createdAt} />
      {launch.createdBy && (
        <>
          {" by "}
          <bdi>{launch.createdBy.name}</bdi>
        </>
      )}{" "}
      {launchSources[launch.source]}.{" "}
      {launch.finishedAt !== null && (
        <>
          Finished <RelativeTime at={launch.finishedAt} />.
        </>
      )}
    </>
  );
}

/** Below the table, so that nothing moves while the number grows. */
function MissingTraces({ launch: { runs }, params }: { launch: LaunchDetail; params: Params }) {
  const count = runs.filter(({ notices }) => notices.includes("no_trace_arrived")).length;
  if (count === 0) return null;
  return (
    <p className="quiet small">
      The agent sent no trace for {numberText(count)} of {counted(runs.length, "test run")}, so only reply,
      status and timing were checked there.{" "}
      <Link to="/projects/$projectId/agents/$agentId/start" params={params}>
        How to send traces
      </Link>
    </p>
  );
}

function NotFullyEvaluated({ launch, params }: { launch: LaunchDetail; params: Params }) {
  if (launch.notFullyEvaluated === 0) return null;
  return (
    <Notice tone="warn">
      <div className="line line-apart">
        <p>
          <b>The judge was unavailable for {counted(launch.notFullyEvaluated, "test run")}.</b> Skipped checks
          can be judged without calling the agent again.
        </p>
        <Reevaluate {...params} what={{ launchId: launch.id }} />
      </div>
    </Notice>
  );
}

/** A test run is deleted together with its trace. */
function DeletedRuns({ launch: { counts, runCount } }: { launch: LaunchDetail }) {
  const deleted = runCount - Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (deleted <= 0) return null;
  return (
    <p className="quiet small">
      {deleted === 1
        ? "1 test run was deleted with its trace."
        : `${deleted} test runs were deleted with their traces.`}
    </p>
  );
}

type Params = { projectId: string; agentId: string; launchId: string };

function isOpen({ state }: LaunchDetail): boolean {
  return state === "queued" || state === "running";
}

/** Disappears when the launch has ended. */
function Cancel({ launch }: { launch: LaunchDetail }) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const cancel = async () => {
    setBusy(true);
    const answer = await cancelLaunch(launch.id);
    setBusy(false);
    setFailure(answer.ok ? undefined : answer.failure);
    if (answer.ok) queries.setQueryData(launchQuery(launch.id).queryKey, answer.value);
    void queries.invalidateQueries({ queryKey: launchesQuery(launch.agentId).queryKey });
  };
  return (
    <>
      <Button small icon="cross" busy={busy} onClick={() => void cancel()}>
        Cancel
      </Button>
      <FailureNotice failure={failure} />
    </>
  );
}

function Actions({ launch, params }: { launch: LaunchDetail; params: Params }) {
  const rerun = useLaunch(params);
  const runnable = launch.runs.filter(({ testDeleted }) => !testDeleted);
  const testIds = runnable.map(({ testId }) => testId);
  const failedIds = runnable.filter(isFailing).map(({ testId }) => testId);
  return (
    <>
      {rerun.refusal}
      {failedIds.length > 0 && failedIds.length < testIds.length && (
        <Button busy={rerun.busy} onClick={() => void rerun.launch(failedIds)}>
          Rerun failed
        </Button>
      )}
      {testIds.length > 0 && (
        <Button icon="play" busy={rerun.busy} onClick={() => void rerun.launch(testIds)}>
          Rerun all
        </Button>
      )}
    </>
  );
}

const kinds = ["all", "failing", "changed"] as const;
const filterLabels = { all: "All", failing: "Not passed", changed: "Broke, fixed or flaky" };
const filters = { all: () => true, failing: hasNotPassed, changed: isChanged };
const emptyTexts = {
  all: { title: "No test runs left", about: "They were deleted along with their traces." },
  failing: {
    title: "All finished test runs passed",
    about: "Test runs that fail, error, are cancelled or skipped, or lack instrumentation appear here.",
  },
  changed: {
    title: "Nothing has changed",
    about: "Every test run had the same result as the last run of its test.",
  },
};

function Runs({ launch, params }: { launch: LaunchDetail; params: Params }) {
  const { only } = route.useSearch();
  const kind = kinds.find(one => one === only) ?? "all";
  const runsOf = (one: (typeof kinds)[number]) => launch.runs.filter(filters[one]);
  const shown = runsOf(kind);
  return (
    <>
      <nav className="tabs runs-tabs" aria-label="Filter test runs">
        {kinds.map(one => (
          <Link
            key={one}
            to="/projects/$projectId/agents/$agentId/runs/$launchId"
            params={params}
            search={{ only: one === "all" ? undefined : one }}
            resetScroll={false}
            className="tab"
            aria-current={one === kind ? "page" : undefined}
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {filterLabels[one]} <span className="quiet">{numberText(runsOf(one).length)}</span>
          </Link>
        ))}
      </nav>
      {shown.length > 0 ? (
        <RunTable runs={shown} params={params} />
      ) : (
        <EmptyState icon="check" title={emptyTexts[kind].title}>
          <p className="quiet">{emptyTexts[kind].about}</p>
        </EmptyState>
      )}
    </>
  );
}

function hasNotPassed({ state, verdict }: LaunchedRun): boolean {
  return state !== "pending" && state !== "running" && verdict !== "passed";
}

/** Whether a rerun may pass. */
function isFailing({ state, verdict }: LaunchedRun): boolean {
  return state === "error" || verdict === "failed" || verdict === "missing_instrumentation";
}

function isChanged({ change, flaky }: LaunchedRun): boolean {
  return change === "broke" || change === "mended" || flaky;
}
