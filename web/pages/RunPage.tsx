// One manual run: each turn as it was sent and answered, what its checks said, and how it came out before.
import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useLaunch } from "../forms/use-launch.tsx";
import { useLive } from "../live.ts";
import { type ManualRun, manualRunQuery, manualRunsQuery } from "../queries/launches.ts";
import { outlineQuery } from "../queries/traces.ts";
import { useRefresh } from "../refreshing.ts";
import type { TraceOutline } from "../shapes.ts";
import { Button } from "../ui/Button.tsx";
import { Notice } from "../ui/Notice.tsx";
import { Page } from "../ui/Page.tsx";
import { Loaded } from "../ui/State.tsx";
import { RelativeTime } from "../ui/Time.tsx";
import { Compared, RunOutcome } from "./runs/RunOutcome.tsx";
import { TurnList } from "./runs/TurnList.tsx";
import { CheckItem } from "./trace/evaluation/CheckItem.tsx";
import { type Shared, TraceContext } from "./trace/evaluation/context.ts";
import { JudgeCalls } from "./trace/evaluation/JudgeCalls.tsx";
import "../styles/evaluation.css";
import "../styles/judging.css";
import "../styles/runs.css";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/runs/$launchId/$runId");

type Params = { projectId: string; agentId: string; launchId: string; runId: string };

export function RunPage() {
  const params = route.useParams();
  const { agentId, runId } = params;
  const queries = useQueryClient();
  const run = useQuery(manualRunQuery(runId));
  const again = useLaunch(params);
  const refresh = useRefresh(() => queries.invalidateQueries({ queryKey: manualRunQuery(runId).queryKey }));
  useLive({ agentId }, event => {
    if (event.type === "refresh" || (event.type === "launch" && event.runId === runId)) refresh();
  });
  const isOpen = run.data?.state === "pending" || run.data?.state === "running";
  return (
    <Page
      title={run.data?.testName ?? "Run"}
      part="Run"
      about={
        run.data && (
          <>
            One run of a test case, made <RelativeTime at={run.data.createdAt} />.{" "}
            <Link to="/projects/$projectId/agents/$agentId/runs/$launchId" params={params}>
              All that ran with it
            </Link>
          </>
        )
      }
      actions={
        run.data && (
          <>
            <Link
              to="/projects/$projectId/agents/$agentId/tests/$testId"
              params={{ ...params, testId: run.data.testId }}
              className="button"
            >
              Edit test case
            </Link>
            {!isOpen && (
              <Button icon="play" busy={again.busy} onClick={() => void again.launch([run.data.testId])}>
                Run again
              </Button>
            )}
          </>
        )
      }
    >
      {again.refusal}
      <Loaded query={run}>{found => <Whole run={found} params={params} />}</Loaded>
    </Page>
  );
}

function Whole({ run, params }: { run: ManualRun; params: Params }) {
  const [result] = run.results;
  return (
    <div className="stack">
      <div className="line" role="status">
        <RunOutcome run={run} />
        <Compared run={run} />
        <span className="break">{run.error ?? result?.reason ?? run.waiting?.reason}</span>
      </div>
      <EndedEarly run={run} />
      {run.notices.includes("no_trace_arrived") && <NoTrace params={params} />}
      <section className="stack-tight" aria-labelledby="turns">
        <h2 id="turns">Turns</h2>
        <TurnList run={run} params={params} />
      </section>
      {result && result.checks.length > 0 && (
        <section className="stack-tight" aria-labelledby="result">
          <h2 id="result">Result</h2>
          <h3 className="unseen">Checks</h3>
          <Checks run={run} params={params} />
          <JudgeCalls run={run} />
        </section>
      )}
      <Earlier run={run} params={params} />
    </div>
  );
}

function EndedEarly({ run: { turns, turnCount } }: { run: ManualRun }) {
  const last = turns.at(-1);
  if (!last?.error) return null;
  return (
    <Notice tone="warn">
      <p>
        <b>
          Turn {last.turn} of {turnCount} failed,
        </b>{" "}
        so the run ended there and is judged by what was known. {last.error.reason}
      </p>
    </Notice>
  );
}

function NoTrace({ params }: { params: Params }) {
  return (
    <Notice tone="info">
      <p>
        <b>The agent sent no trace</b> of at least one turn, so that turn is judged by its reply, status and
        times alone; what asks for more is missing instrumentation. Let the agent go on under the{" "}
        <code>traceparent</code> of the request, or send its trace with the same <code>x-request-id</code>.{" "}
        <Link to="/projects/$projectId/agents/$agentId/start" params={params}>
          How to send traces
        </Link>
      </p>
    </Notice>
  );
}

/** With the traces of all turns, so that each check leads to the span it looked at; one that was deleted leads nowhere. */
function Checks({ run, params }: { run: ManualRun; params: Params }) {
  const traces = useQueries({
    queries: run.turns.map(({ traceId }) => ({ ...outlineQuery(traceId ?? ""), enabled: traceId !== null })),
  });
  const outlines = traces.map(({ data }) => data);
  const failed = traces.find(({ error, data }) => error && data === undefined);
  const last = outlines.findLast(outline => outline !== undefined);
  if (last) return <CheckList run={run} outlines={outlines} last={last} params={params} />;
  return failed ? <Loaded query={failed}>{() => null}</Loaded> : null;
}

type CheckListProps = {
  run: ManualRun;
  /** By turn; undefined where it is not known. */
  outlines: (TraceOutline | undefined)[];
  last: TraceOutline;
  params: Params;
};

function CheckList({ run, outlines, last, params: { projectId, agentId } }: CheckListProps) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const shared: Shared = useMemo(() => {
    const placeOf = (trace: TraceOutline) => ({
      trace,
      spanNames: new Map(trace.spans.map(({ spanId, name }) => [spanId, name])),
    });
    const places = outlines.map(outline => outline && placeOf(outline));
    return {
      ...placeOf(last),
      ofTurn: turn => places[turn - 1],
      selected: undefined,
      onSelect: undefined,
      onShow: () => {},
      params: { projectId, agentId },
    };
  }, [outlines, last, projectId, agentId]);
  const result = run.results[0]!;
  const fold = (id: string, open: boolean) => {
    const others = [...folded].filter(one => one !== id);
    setFolded(new Set(open ? others : [...others, id]));
  };
  return (
    <TraceContext value={shared}>
      <div className="evaluation">
        <ul className="checks" aria-label="Checks">
          {result.checks.map(check => (
            <CheckItem
              key={check.id}
              check={check}
              result={result}
              open={!folded.has(check.id)}
              onFold={open => fold(check.id, open)}
            />
          ))}
        </ul>
      </div>
    </TraceContext>
  );
}

/** The latest runs of the same test case, this one among them. */
function Earlier({ run, params }: { run: ManualRun; params: Params }) {
  const earlier = useQuery(manualRunsQuery(run.testId));
  const others = earlier.data?.filter(({ id }) => id !== run.id) ?? [];
  if (others.length === 0) return null;
  return (
    <section className="stack-tight" aria-labelledby="earlier">
      <h2 id="earlier">Other runs of this test case</h2>
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
            <span className="quiet break">{other.error ?? other.results[0]?.reason}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
