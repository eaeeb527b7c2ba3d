// Page of one test run: its turns with message and reply, its checks, and earlier runs of the same test.
import { type UseQueryResult, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ManualRun } from "../../../src/http/test-cases/launch-schemas.ts";
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import type { RunState } from "../../../src/model/run/run.ts";
import { failureOf } from "../../api.ts";
import { durationText } from "../../format.ts";
import { FixConnection } from "../../forms/FixConnection.tsx";
import { Reevaluate } from "../../forms/Reevaluate.tsx";
import { useLaunch } from "../../forms/use-launch.tsx";
import { useLive } from "../../live.ts";
import { manualRunQuery, runsLikeQuery } from "../../queries/launches.ts";
import { outlineQuery } from "../../queries/traces.ts";
import { reasonText } from "../../reasons.ts";
import { useRefresh } from "../../refreshing.ts";
import { Button } from "../../ui/Button.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Page } from "../../ui/Page.tsx";
import { EmptyState, Loaded, Skeleton } from "../../ui/State.tsx";
import { RelativeTime } from "../../ui/Time.tsx";
import { Title } from "../../ui/Title.tsx";
import { CheckList } from "../trace/evaluation/CheckList.tsx";
import { JudgeCalls } from "../trace/evaluation/JudgeCalls.tsx";
import { Compared, RunOutcome } from "./RunOutcome.tsx";
import { RunPlace } from "./RunPlace.tsx";
import { TurnList } from "./TurnList.tsx";
import "../../styles/json.css";
import "../../styles/judging.css";
import "../../styles/runs.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/runs/$launchId/$runId");

type Params = { projectId: string; agentId: string; launchId: string; runId: string };

export function RunPage() {
  const params = route.useParams();
  const { agentId, runId } = params;
  const queries = useQueryClient();
  const run = useQuery(manualRunQuery(runId));
  const rerun = useLaunch(params);
  const refresh = useRefresh(() => queries.invalidateQueries({ queryKey: manualRunQuery(runId).queryKey }));
  useLive({ agentId }, event => {
    const isOfTurn = (id: string) => run.data?.turns.some(({ traceId }) => traceId === id);
    if (
      event.type === "refresh" ||
      (event.type === "launch" && event.runId === runId) ||
      (event.type === "trace" && isOfTurn(event.traceId))
    ) {
      refresh();
    }
  });
  const isOpen = run.data && isOpenRun(run.data);
  if (run.error && failureOf(run.error).code === "NOT_FOUND") return <RunNotFound params={params} />;
  return (
    <Page
      title={run.data?.testName ?? "Test run"}
      part="Test run"
      about={
        run.data && (
          <>
            Test run, created <RelativeTime at={run.data.createdAt} />.{" "}
            <Link to="/projects/$projectId/agents/$agentId/runs/$launchId" params={params}>
              View full run
            </Link>
          </>
        )
      }
      actions={
        run.data &&
        !run.data.testDeleted && (
          <>
            <Link
              to="/projects/$projectId/agents/$agentId/tests/$testId"
              params={{ ...params, testId: run.data.testId }}
              className="button"
            >
              Edit test case
            </Link>
            {!isOpen && (
              <Button icon="play" busy={rerun.busy} onClick={() => void rerun.launch([run.data.testId])}>
                Rerun
              </Button>
            )}
          </>
        )
      }
    >
      {rerun.dialog}
      <Loaded query={run}>{found => <RunContent run={found} params={params} />}</Loaded>
    </Page>
  );
}

/** For links to test runs that were deleted since. */
function RunNotFound({ params }: { params: Params }) {
  return (
    <>
      <Title text="Not found" />
      <EmptyState icon="search" title="Test run not found" whole>
        <p className="quiet">It does not exist, belongs to another account, or was deleted with its trace.</p>
        <Link to="/projects/$projectId/agents/$agentId/runs" params={params} className="button">
          View all runs
        </Link>
      </EmptyState>
    </>
  );
}

function RunContent({ run, params }: { run: ManualRun; params: Params }) {
  const [result] = run.results;
  const traces = useTurnTraces(run);
  const isOutage = run.outage && run.state === "completed";
  return (
    <div className="stack">
      <RunPlace run={run} params={params} />
      <div className="line" role="status">
        <RunOutcome run={run} />
        <Compared run={run} />
        <span className="break">
          {run.error ?? resultText(run) ?? run.waiting?.reason ?? stateTexts[run.state]}
        </span>
      </div>
      {run.testDeleted && (
        <Notice tone="info">
          The test case was deleted, so it cannot be rerun. Its checks at the time are shown below.
        </Notice>
      )}
      {run.error !== null && <FixConnection params={params} />}
      <EndedEarly run={run} />
      {isOutage && (
        <Notice tone="warn">
          <div className="line line-apart">
            <p>
              <b>The judge was unavailable for some checks.</b> They can be judged without calling the agent
              again.
            </p>
            <Reevaluate {...params} what={{ runIds: [run.id] }} />
          </div>
        </Notice>
      )}
      {!isOpenRun(run) && run.notices.includes("judged_earlier_revision") && (
        <TraceChanged run={run} params={params} isOffered={isOutage} />
      )}
      {run.notices.includes("trace_differs") && <TraceDiffers />}
      {run.notices.includes("no_trace_arrived") && <NoTrace run={run} params={params} />}
      <section className="stack-tight" aria-labelledby="turns">
        <h2 id="turns">Turns</h2>
        <TurnList run={run} params={params} />
      </section>
      {result && result.checks.length > 0 && (
        <section className="stack-tight" aria-labelledby="result">
          <h2 id="result">Result</h2>
          <h3 className="unseen">Checks</h3>
          <Checks run={run} traces={traces} params={params} />
          <JudgeCalls run={run} />
        </section>
      )}
      <Earlier run={run} params={params} />
    </div>
  );
}

function resultText({ reason, ...rest }: ManualRun): string | null {
  return reason === null ? null : reasonText({ reason, ...rest });
}

function EndedEarly({ run: { turns, turnCount, reasonCode } }: { run: ManualRun }) {
  const last = turns.at(-1);
  if (!last?.error) return null;
  const failed = (
    <b>
      Turn {last.turn} of {turnCount} failed,
    </b>
  );
  // The reason is part of the result, which is shown above.
  return reasonCode === "agent_error" ? (
    <Notice tone="bad">
      <p>{failed} so the run stopped there and the test failed, whatever its checks found.</p>
    </Notice>
  ) : (
    <Notice tone="warn">
      <p>
        {failed} so the run stopped there and was evaluated up to that point. {last.error.reason}
      </p>
    </Notice>
  );
}

/** What differs is shown with its turn. */
function TraceDiffers() {
  return (
    <Notice tone="info">
      <p>
        <b>The agent’s trace differs from what Onlooker received.</b> The test was evaluated by the received
        reply and status; the turns below show both.
      </p>
    </Notice>
  );
}

function isOpenRun({ state }: ManualRun): boolean {
  return state === "pending" || state === "running";
}

type TraceChangedProps = {
  run: ManualRun;
  params: Params;
  /** Another notice offers to re-evaluate. */
  isOffered: boolean;
};

/** For example spans that the agent sent after the wait. */
function TraceChanged({ run, params, isOffered }: TraceChangedProps) {
  return (
    <Notice tone="warn">
      <div className="line line-apart">
        <p>
          <b>The trace changed after this evaluation.</b> Re-evaluate to include the changes; the agent is not
          called again.
        </p>
        {!isOffered && <Reevaluate {...params} what={{ runIds: [run.id] }} />}
      </div>
    </Notice>
  );
}

function NoTrace({ run: { turnCount, waitedMs }, params }: { run: ManualRun; params: Params }) {
  const single = turnCount === 1;
  return (
    <Notice tone="info">
      <p>
        <b>The agent sent no trace{waitedMs !== null && single && ` within ${durationText(waitedMs)}`}</b>
        {single ? "" : " for at least one turn"}, so only reply, status and timing were checked
        {single ? "" : " there"}; other checks show “Missing instrumentation”. Continue the request’s{" "}
        <code>traceparent</code>, or send the trace with the same <code>x-request-id</code>.{" "}
        <Link to="/projects/$projectId/agents/$agentId/start" params={params}>
          How to send traces
        </Link>
      </p>
    </Notice>
  );
}

/** Shown where the run has no reason yet. */
const stateTexts: Partial<Record<RunState, string>> = {
  pending: "Waiting for earlier test runs to finish.",
  running: "Sending the turns one after the other.",
  cancelled: "Nothing was evaluated.",
};

type TurnTraces = UseQueryResult<TraceOutline>[];

/** The traces in the order of the turns, loaded once there are results. */
function useTurnTraces({ turns, results }: ManualRun): TurnTraces {
  return useQueries({
    queries: turns.map(({ traceId }) => ({
      ...outlineQuery(traceId ?? ""),
      enabled: traceId !== null && results.length > 0,
    })),
  });
}

type ChecksProps = { run: ManualRun; traces: TurnTraces; params: Params };

/** Loads the traces of all turns, so that each check can link to its span. */
function Checks({ run, traces, params }: ChecksProps) {
  const failed = traces.find(trace => trace.error && trace.data === undefined);
  if (failed) return <Loaded query={failed}>{() => null}</Loaded>;
  const loaded = traces.flatMap(({ data }) => data ?? []);
  if (loaded.length < run.turns.length) return <Skeleton />;
  return (
    <CheckList
      result={run.results[0]!}
      traces={loaded}
      params={params}
      runId={run.state === "completed" ? run.id : undefined}
    />
  );
}

/** The latest runs of the same test, and input, in other launches. */
function Earlier({ run, params }: { run: ManualRun; params: Params }) {
  const { data: others = [] } = useQuery(runsLikeQuery(run));
  if (others.length === 0) return null;
  return (
    <section className="stack-tight" aria-labelledby="earlier">
      <h2 id="earlier">{run.row === null ? "Other runs of this test" : "Other runs with this input"}</h2>
      <ul className="runs-earlier">
        {others.map(other => (
          <li key={other.id} className="line">
            <RunOutcome run={other} />
            <Link
              to="/projects/$projectId/agents/$agentId/runs/$launchId/$runId"
              params={{ ...params, launchId: other.launchId, runId: other.id }}
            >
              <RelativeTime at={other.createdAt} />
            </Link>
            {other.repeat !== null && <span className="quiet small">Repeat {other.repeat}</span>}
            <span className="quiet break">{other.error ?? other.reason}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
