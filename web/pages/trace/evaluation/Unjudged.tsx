// A trace without a verdict: still to come, at work, ended in an error, or never to be judged; each with what to do.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RunDetail } from "../../../../src/http/traces/schemas.ts";
import type { Waiting } from "../../../../src/model/run/run.ts";
import { runStates } from "../../../labels.ts";
import { Badge } from "../../../ui/Badge.tsx";
import { CopyText } from "../../../ui/Copy.tsx";
import { Notice } from "../../../ui/Notice.tsx";
import { useNow } from "../../../ui/now.ts";
import { ClockTime, RelativeTime, remainingText } from "../../../ui/Time.tsx";
import { useTrace } from "./context.ts";
import { Long } from "./Value.tsx";
import { freshIdentity } from "./words.ts";

/** A run that has not come to its end, or to a bad one. */
export function RunOpen({ run }: { run: RunDetail }) {
  const { trace } = useTrace();
  if (run.kind === "manual") return <ManualOpen run={run} />;
  switch (run.state) {
    case "pending":
      return (
        <State>
          <Countdown dueAt={run.dueAt} />
          <p className="quiet">
            {trace.path === "otlp"
              ? "It waits for further spans of this trace; each batch that arrives moves it a little."
              : "It begins as soon as a worker is free."}
          </p>
        </State>
      );
    case "running":
      if (run.waiting) return <Waits run={run} waiting={run.waiting} />;
      return (
        <State>
          <p>
            The trace is being judged
            {run.startedAt && (
              <>
                {", since "}
                <RelativeTime at={run.startedAt} />
              </>
            )}
            .
          </p>
          {run.attempts > 1 && <p className="quiet">This is attempt {run.attempts}.</p>}
        </State>
      );
    default:
      return (
        <Notice tone="bad">
          <p>
            <Long text={run.error ?? "The evaluation came to no end."} />
          </p>
          <p>{freshIdentity} The service’s log says more about the run:</p>
          <CopyText text={run.id} label="run id" />
        </Notice>
      );
  }
}

/** Of a run that somebody started; its own page tells more. */
function ManualOpen({ run }: { run: RunDetail }) {
  if (run.state === "error") {
    return (
      <Notice tone="bad">
        <Long text={run.error ?? "The run came to no end."} />
      </Notice>
    );
  }
  return (
    <p>
      {run.state === "cancelled"
        ? "The run was cancelled, so nothing was judged."
        : "The run has not ended: it is judged once all of its turns are there."}
    </p>
  );
}

/** Its next try is told by the header. */
function Waits({ run: { results }, waiting: { reason, until } }: { run: RunDetail; waiting: Waiting }) {
  return (
    <State>
      <p>
        The judge gave no judgement yet. <Long text={reason} />
      </p>
      <p className="quiet">
        It is asked again by itself. What has no answer by <ClockTime at={until} /> is skipped with that
        reason.
        {results.length > 0 && " The checks that need no judge are below."}
      </p>
    </State>
  );
}

function State({ children }: { children: ReactNode }) {
  return <div className="stack-tight">{children}</div>;
}

/** Longer past its time than this, something holds a run up. */
const lateMs = 10_000;

function Countdown({ dueAt }: { dueAt: string }) {
  const left = Date.parse(dueAt) - useNow(1_000);
  if (left > 0) {
    return (
      <p>
        The evaluation begins in <span className="count">{remainingText(left)}</span>.
      </p>
    );
  }
  if (left > -lateMs) return <p>The evaluation is due now.</p>;
  return (
    <Notice tone="warn">
      The evaluation has been due for {remainingText(-left)}. Is a worker running, that is, a process whose
      SVC_ROLES has “worker”?
    </Notice>
  );
}

/** No run at all. */
export function NotEvaluated() {
  const { trace, params } = useTrace();
  const { tests } = trace;
  if (trace.kind === "test_run") {
    return (
      <div className="stack-tight">
        <div>
          <Badge word={runStates.none} />
        </div>
        <p>It came for a manual run that is not there any more, or that was judged by another trace.</p>
      </div>
    );
  }
  const able = tests.filter(({ why }) => why === "not_evaluated");
  const count = (wanted: string) => tests.filter(({ why }) => why === wanted).length;
  const kinds = [
    [count("disabled"), "disabled"],
    [count("manual_only"), "to be run manually only"],
    [count("multi_turn"), "without exactly one turn, so run manually only"],
  ] as const;
  const listed = kinds.flatMap(([number, what]) =>
    number > 0 ? `${number} ${number === 1 ? "is" : "are"} ${what}` : [],
  );
  return (
    <div className="stack-tight">
      <div>
        <Badge word={runStates.none} />
      </div>
      {tests.length === 0 ? (
        <>
          <p>The agent has no test case, so there was nothing to judge the trace by.</p>
          <p>
            <Link
              to="/projects/$projectId/agents/$agentId/tests/$testId"
              params={{ ...params, testId: "new" }}
              search={{ trace: trace.id }}
            >
              Write a test case from this trace
            </Link>
          </p>
        </>
      ) : (
        <>
          <p>
            When the trace arrived, no test case was there that judges real conversations.
            {listed.length > 0 && ` Of the agent’s test cases, ${listed.join(", ")}.`}
          </p>
          {able.length > 0 ? (
            <p>
              {able.length === 1 ? "One does now" : `${able.length} do now`}. {freshIdentity}
            </p>
          ) : (
            <p>
              <Link to="/projects/$projectId/agents/$agentId/tests" params={params}>
                Activate a test case
              </Link>
              {", then send the conversation with a fresh identity."}
            </p>
          )}
        </>
      )}
    </div>
  );
}
