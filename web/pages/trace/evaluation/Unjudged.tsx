// A trace without a verdict: pending, running, ended in an error, or not evaluated; each with what to do.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RunDetail } from "../../../../src/http/traces/run-schemas.ts";
import type { Waiting } from "../../../../src/model/run/run.ts";
import { Reevaluate } from "../../../forms/Reevaluate.tsx";
import { runStates } from "../../../labels.ts";
import { Badge } from "../../../ui/Badge.tsx";
import { CopyText } from "../../../ui/Copy.tsx";
import { Notice } from "../../../ui/Notice.tsx";
import { useNow } from "../../../ui/now.ts";
import { ClockTime, RelativeTime, remainingText } from "../../../ui/Time.tsx";
import { useTrace } from "./context.ts";
import { Long } from "./Value.tsx";

/** A run that has not completed. */
export function RunOpen({ run }: { run: RunDetail }) {
  const { trace, params } = useTrace();
  if (run.kind === "manual") return <ManualOpen run={run} />;
  switch (run.state) {
    case "pending":
      return (
        <State>
          <Countdown dueAt={run.dueAt} />
          <p className="quiet">
            {trace.path === "otlp"
              ? "The evaluation waits for more spans of this trace; each batch delays it a little."
              : "The evaluation starts as soon as a worker is free."}
          </p>
        </State>
      );
    case "running":
      if (run.waiting) return <Waits run={run} waiting={run.waiting} />;
      return (
        <State>
          <p>
            Evaluating this trace
            {run.startedAt && (
              <>
                {" since "}
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
            <Long text={run.error ?? "The evaluation did not finish."} />
          </p>
          <div>
            <Reevaluate {...params} what={{ traceIds: [trace.id] }} />
          </div>
          <p>For details, search the service log for this run ID:</p>
          <CopyText text={run.id} label="run ID" />
        </Notice>
      );
  }
}

/** A manual run; its own page shows more. */
function ManualOpen({ run }: { run: RunDetail }) {
  if (run.state === "error") {
    return (
      <Notice tone="bad">
        <Long text={run.error ?? "The run did not finish."} />
      </Notice>
    );
  }
  return (
    <p>
      {run.state === "cancelled"
        ? "The run was cancelled before it was evaluated."
        : "The run is evaluated once all of its turns have finished."}
    </p>
  );
}

/** The header shows the next try. */
function Waits({ run: { results }, waiting: { reason, until } }: { run: RunDetail; waiting: Waiting }) {
  return (
    <State>
      <p>
        Waiting for the judge. <Long text={reason} />
      </p>
      <p className="quiet">
        The judge is called again automatically. Checks without an answer by <ClockTime at={until} /> are
        skipped.
        {results.length > 0 && " Checks that need no judge are shown below."}
      </p>
    </State>
  );
}

function State({ children }: { children: ReactNode }) {
  return <div className="stack-tight">{children}</div>;
}

/** A run this long overdue is stuck. */
const lateMs = 10_000;

function Countdown({ dueAt }: { dueAt: string }) {
  const left = Date.parse(dueAt) - useNow(1_000);
  if (left > 0) {
    return (
      <p>
        The evaluation starts in <span className="count">{remainingText(left)}</span>.
      </p>
    );
  }
  if (left > -lateMs) return <p>The evaluation is due now.</p>;
  return (
    <Notice tone="warn">
      The evaluation has been due for {remainingText(-left)}. Make sure a worker is running: a process with
      “worker” in SVC_ROLES.
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
        <p>Its manual run was deleted, or was judged by another trace.</p>
      </div>
    );
  }
  if (trace.noise !== null) {
    return (
      <div className="stack-tight">
        <div>
          <Badge word={runStates.none} />
        </div>
        <p>Noise is never evaluated.</p>
      </div>
    );
  }
  const able = tests.filter(({ why }) => why === "not_evaluated");
  const count = (wanted: string) => tests.filter(({ why }) => why === wanted).length;
  const kinds = [
    [count("disabled"), "disabled"],
    [count("manual_only"), "limited to manual runs"],
    [count("multi_turn"), "limited to manual runs, because they do not have exactly one turn"],
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
          <p>The agent has no test cases, so the trace was not evaluated.</p>
          <p>
            <Link
              to="/projects/$projectId/agents/$agentId/tests/$testId"
              params={{ ...params, testId: "new" }}
              search={{ trace: trace.id }}
            >
              Create a test case from this trace
            </Link>
          </p>
        </>
      ) : (
        <>
          <p>
            When the trace arrived, no test case ran automatically.
            {listed.length > 0 && ` Of the agent’s test cases, ${listed.join(", ")}.`}
          </p>
          {able.length > 0 ? (
            <>
              <p>{able.length === 1 ? "One does now." : `${able.length} do now.`}</p>
              <div>
                <Reevaluate {...params} what={{ traceIds: [trace.id] }} isFirst />
              </div>
            </>
          ) : (
            <p>
              <Link to="/projects/$projectId/agents/$agentId/tests" params={params}>
                Activate a test case
              </Link>
              {", then check this trace."}
            </p>
          )}
        </>
      )}
    </div>
  );
}
