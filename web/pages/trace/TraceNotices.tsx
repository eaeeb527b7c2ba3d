// Notices above a trace: what limits the trace or its verdict, and how to fix it.
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import type { RunDetail } from "../../../src/http/traces/run-schemas.ts";
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import type { Notice as NoticeCode } from "../../../src/model/trace/trace.ts";
import { ContentOff } from "../../forms/ContentOff.tsx";
import { ReadIt } from "../../forms/ReadIt.tsx";
import { Reevaluate, usePausedReason } from "../../forms/Reevaluate.tsx";
import { counted, runStates, type Why } from "../../labels.ts";
import { testsQuery } from "../../queries/tests.ts";
import { Notice } from "../../ui/Notice.tsx";
import { useNow } from "../../ui/now.ts";
import { ClockTime, NextTry, remainingText } from "../../ui/Time.tsx";
import { Brief } from "./Brief.tsx";
import { CodedNotice } from "./CodedNotice.tsx";
import { shownRun } from "./tree.ts";
import { freshIdentity } from "./words.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces/$traceId");

export function TraceNotices({ trace }: { trace: TraceOutline }) {
  const { agentId } = route.useParams();
  const { run: runId } = route.useSearch();
  const { data: tests } = useInfiniteQuery(testsQuery(agentId));
  const run = shownRun(trace.runs, runId);
  const open = trace.runs.find(({ state }) => state === "pending" || state === "running");
  const changed = run && tests ? changedTests(run, tests) : [];
  const judged = trace.runs.find(({ id }) => id === trace.run?.id);
  const isSkipped = !open && judged !== undefined && hasSkippedChecks(judged);
  const state = open ? (open.waiting ? "waiting" : open.state) : (run?.state ?? "none");
  return (
    <div className="trace-notices">
      <p className="unseen" role="status">
        {runStates[state].text}
      </p>
      {open && <Open run={open} trace={trace} />}
      {run?.state === "error" && !open && (
        <Notice tone="bad">
          <b>Evaluation error.</b> {run.error}
        </Notice>
      )}
      {!run && trace.noise === null && <NotEvaluated trace={trace} />}
      {isSkipped && <SkippedChecks trace={trace} run={judged} />}
      {trace.readable.length > 0 && <ReadIt trace={trace} />}
      {trace.contentSwitches.length > 0 && (
        <ContentOff trace={trace} effect=", so “Run when relevant” tests did not run" />
      )}
      {!open && !isSkipped && run?.state === "completed" && <ReadSince trace={trace} run={run} />}
      {trace.notices
        .filter(code => !isAnswered(code, trace))
        .map(code => (
          <CodedNotice
            key={code}
            code={code}
            trace={trace}
            evaluating={open !== undefined}
            isOffered={isSkipped}
          />
        ))}
      {changed.length > 0 && (
        <Notice tone="info">
          <Brief>
            <b>{changed.length === 1 ? "A test has" : "Tests have"} changed since this evaluation</b>:{" "}
            {changed.map(({ name }) => `“${name}”`).join(", ")}. Resend the trace with {freshIdentity(trace)}{" "}
            to evaluate it with the current {changed.length === 1 ? "version" : "versions"}.
          </Brief>
        </Notice>
      )}
    </div>
  );
}

/** Reading the convention, or switching messages on, says more than what to send instead. */
function isAnswered(code: NoticeCode, { readable, contentSwitches }: TraceOutline): boolean {
  return (
    readable.length + contentSwitches.length > 0 && (code === "other_convention" || code === "no_user_input")
  );
}

/** The conventions or own rules have changed since the evaluation. */
function ReadSince({ trace, run }: { trace: TraceOutline; run: RunDetail }) {
  const { projectId } = route.useParams();
  if (trace.kind !== "live" || readBy(run) === readBy(trace)) return null;
  return (
    <Notice tone="info">
      <div className="line line-apart">
        <p>
          <b>The agent’s conventions have changed since this evaluation.</b> Re-evaluate the trace with the
          same tests to check what is read now.
        </p>
        <Reevaluate projectId={projectId} agentId={trace.agentId} what={{ traceIds: [trace.id] }} />
      </div>
    </Notice>
  );
}

const readBy = ({ conventions, conventionRules }: Pick<TraceOutline, "conventions" | "conventionRules">) =>
  JSON.stringify([conventions, conventionRules]);

function Open({ run, trace }: { run: RunDetail; trace: TraceOutline }) {
  const due = Date.parse(run.dueAt);
  const now = useNow(run.state === "pending" ? 1_000 : null);
  if (run.waiting) {
    return (
      <Notice tone="info">
        <Brief>
          <b>
            Waiting for the judge, <NextTry at={run.waiting.nextTryAt} />.
          </b>{" "}
          {run.waiting.reason} Checks without an answer by <ClockTime at={run.waiting.until} /> are skipped.
        </Brief>
      </Notice>
    );
  }
  if (run.state === "running") {
    return (
      <Notice tone="info">
        <b>Evaluating.</b> The verdict will appear here.
      </Notice>
    );
  }
  const wait = due > now ? `in ${remainingText(due - now)}` : "in a moment";
  return (
    <Notice tone="info">
      {trace.path === "otlp" ? (
        <>
          <b>More spans may arrive.</b> Evaluation starts a few seconds after the last one,{" "}
        </>
      ) : (
        <>
          <b>Evaluation starts</b>{" "}
        </>
      )}
      <span className="figures">{wait}</span>.
    </Notice>
  );
}

/** Because of the judge; they can still be judged. */
function hasSkippedChecks({ outage, results }: RunDetail): boolean {
  return outage || results.some(({ checks }) => checks.some(({ skipped }) => skipped === "budget"));
}

function SkippedChecks({ trace, run }: { trace: TraceOutline; run: RunDetail }) {
  const { projectId } = route.useParams();
  const pausedReason = usePausedReason(projectId);
  return (
    <Notice tone="info">
      <div className="line line-apart">
        <p>
          <b>{run.outage ? "The judge was unavailable." : "The judge budget was used up."}</b>{" "}
          {pausedReason !== null
            ? `The judge is still paused. ${pausedReason}`
            : run.outage
              ? "Skipped checks can be judged now."
              : "Skipped checks can be judged once there is budget again."}
        </p>
        <Reevaluate projectId={projectId} agentId={trace.agentId} what={{ traceIds: [trace.id] }} />
      </div>
    </Notice>
  );
}

function NotEvaluated({ trace }: { trace: TraceOutline }) {
  const params = route.useParams();
  const tests = (
    <Link to="/projects/$projectId/agents/$agentId/tests" params={params}>
      Go to test cases
    </Link>
  );
  if (trace.tests.length === 0) {
    return (
      <Notice tone="info">
        <b>Not evaluated: this agent has no test cases.</b> Create a test case from this trace to check the
        next ones.
      </Notice>
    );
  }
  const reasons = new Map<Why, number>();
  for (const { why } of trace.tests) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  const ineligible = [...reasons].filter(([why]) => why !== "not_evaluated" && why !== "pending");
  const wouldRun = trace.tests.length - ineligible.reduce((sum, [, count]) => sum + count, 0);
  return (
    <Notice tone="info">
      <b>Not evaluated</b>:{" "}
      {wouldRun > 0
        ? `no test applied when the trace arrived; ${counted(wouldRun, "test")} would now. Check this trace to evaluate it.`
        : `${ineligible.map(([why, count]) => `${counted(count, "test")} ${ineligibleTexts[why] ?? why}`).join(", ")}.`}{" "}
      {tests}
    </Notice>
  );
}

const ineligibleTexts: { [W in Why]?: string } = {
  disabled: "disabled",
  manual_only: "set to Manual runs only",
  multi_turn: "without exactly one turn, for manual runs only",
};

/** The fields that affect a verdict; name and status do not. */
const verdictFields = ["passiveBehavior", "scenario", "threshold", "turns", "assertions"] as const;

function changedTests(run: RunDetail, tests: ListedTest[]): { name: string }[] {
  const current = new Map(tests.map(test => [test.id, test]));
  return run.results.filter(({ testId, test }) => {
    const now = current.get(testId);
    return now && verdictFields.some(field => JSON.stringify(now[field]) !== JSON.stringify(test[field]));
  });
}
