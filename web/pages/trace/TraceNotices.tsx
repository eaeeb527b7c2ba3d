// Notices above a trace: what limits the trace or its verdict, and how to fix it.
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import type { RunDetail, TraceOutline } from "../../../src/http/traces/schemas.ts";
import type { Notice as NoticeCode } from "../../../src/model/trace/trace.ts";
import { numberText } from "../../format.ts";
import { Reevaluate, usePausedReason } from "../../forms/Reevaluate.tsx";
import { counted, runStates, type Why } from "../../labels.ts";
import { testsQuery } from "../../queries/tests.ts";
import { Button } from "../../ui/Button.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { useNow } from "../../ui/now.ts";
import { ClockTime, NextTry, remainingText } from "../../ui/Time.tsx";
import { useHasJudge } from "../judge-usage/NoJudge.tsx";
import { shownRun } from "./tree.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces/$traceId");

export function TraceNotices({ trace }: { trace: TraceOutline }) {
  const { agentId } = route.useParams();
  const { run: runId } = route.useSearch();
  const { data: tests } = useInfiniteQuery(testsQuery(agentId));
  const run = shownRun(trace.runs, runId);
  const open = trace.runs.find(({ state }) => state === "pending" || state === "running");
  const changed = run && tests ? changedTests(run, tests) : [];
  const state = open ? (open.waiting ? "waiting" : open.state) : (run?.state ?? "none");
  return (
    <div className="trace-notices">
      <p className="unseen" role="status">
        {runStates[state].text}
      </p>
      {open && <Open run={open} trace={trace} />}
      {run?.state === "error" && !open && (
        <Notice tone="bad">
          <b>Evaluation error.</b> {run.error} Resend the trace with {freshIdentity(trace)} to evaluate it
          again.
        </Notice>
      )}
      {!run && <NotEvaluated trace={trace} />}
      {!open && trace.run && (
        <SkippedChecks trace={trace} run={trace.runs.find(({ id }) => id === trace.run?.id)} />
      )}
      {trace.notices.map(code => (
        <CodedNotice key={code} code={code} trace={trace} evaluating={open !== undefined} />
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

/** Only the first line until expanded, because the panes below need the space. */
function Brief({ children }: { children: ReactNode }) {
  const [whole, setWhole] = useState(false);
  return (
    <div className="brief">
      <p data-whole={whole || undefined}>{children}</p>
      <Button small look="link" aria-expanded={whole} onClick={() => setWhole(!whole)}>
        {whole ? "Less" : "More"}
      </Button>
    </div>
  );
}

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

/** Checks that were skipped because of the judge and can still be judged. */
function SkippedChecks({ trace, run }: { trace: TraceOutline; run: RunDetail | undefined }) {
  const { projectId } = route.useParams();
  const pausedReason = usePausedReason(projectId);
  const checks = run?.results.flatMap(result => result.checks) ?? [];
  const isBudget = checks.some(({ skipped }) => skipped === "budget");
  if (!run || (!run.outage && !isBudget)) return null;
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
        ? `no test applied when the trace arrived; ${counted(wouldRun, "test")} would now. Resend the trace with ${freshIdentity(trace)}.`
        : `${ineligible.map(([why, count]) => `${counted(count, "test")} ${ineligibleTexts[why] ?? why}`).join(", ")}.`}{" "}
      {tests}
    </Notice>
  );
}

const ineligibleTexts: { [W in Why]?: string } = {
  disabled: "disabled",
  manual_only: "manual only",
  multi_turn: "manual only (not exactly one turn)",
};

type CodedProps = { code: NoticeCode; trace: TraceOutline; evaluating: boolean };

function CodedNotice({ code, trace, evaluating }: CodedProps) {
  const { projectId } = route.useParams();
  const hasJudge = useHasJudge(projectId);
  if (code === "routing_unavailable" && !hasJudge) return <NoJudgeNotice projectId={projectId} />;
  return (
    <Notice tone={code === "routing_unavailable" ? "warn" : "info"}>
      <Brief>{noticeTexts[code](trace, evaluating)}</Brief>
    </Notice>
  );
}

/** Calmer than a warning, since it is the same for every trace of the project. */
function NoJudgeNotice({ projectId }: { projectId: string }) {
  return (
    <Notice tone="info">
      <Brief>
        <b>Routing unavailable: no conditional checks were evaluated.</b> This project has no judge, so only
        “Always run” tests ran.{" "}
        <Link to="/projects/$projectId/settings/judge" params={{ projectId }}>
          Set up a judge
        </Link>
      </Brief>
    </Notice>
  );
}

/** A new notice code does not compile until it has its text here. */
const noticeTexts: Record<NoticeCode, (trace: TraceOutline, evaluating: boolean) => ReactNode> = {
  no_user_input: () => (
    <>
      <b>No user input was available</b>, so “Run when relevant” tests did not run. Send{" "}
      <code>gen_ai.input.messages</code> or <code>gen_ai.prompt</code> on the span of the model call.
    </>
  ),
  routing_unavailable: () => (
    <>
      <b>Routing unavailable: no conditional checks were evaluated.</b> The judge was not configured or did
      not answer, so only “Always run” tests ran.
    </>
  ),
  trace_differs: trace => {
    const run = trace.runs.find(({ launchId }) => launchId !== null);
    return (
      <>
        <b>Onlooker received another reply or status than this trace has</b>, and evaluated what it received.{" "}
        {run && <RunLink run={run} />}
      </>
    );
  },
  no_trace_arrived: () => (
    <>
      <b>The agent sent no trace for this turn.</b> Onlooker built this one from the request and the reply. To
      evaluate all checks, continue the request’s <code>traceparent</code>, or send the trace with the same{" "}
      <code>x-request-id</code> within the wait set in the agent’s connection.
    </>
  ),
  orphan_spans: trace => <Orphans trace={trace} />,
  no_root: () => (
    <>
      <b>No root span.</b> Every span names a parent, so the earliest span is used as the root. Export the
      first span of the trace without a parent.
    </>
  ),
  no_timing: trace => (
    <>
      <b>{trace.startTimeUnixNano && !trace.endTimeUnixNano ? "No end time." : "No usable times."}</b> The
      duration is unknown, so response time checks show “Missing instrumentation”. Send{" "}
      <code>start_time_unix_nano</code> and a later <code>end_time_unix_nano</code> on the root span.
    </>
  ),
  other_convention: ({ otherConvention: other }) =>
    other && (
      <>
        <b>Other attribute convention{other.name && ` (${other.name})`}.</b> Checks do not read{" "}
        {other.found.slice(0, 8).map((name, index) => (
          <span key={name}>
            {index > 0 && ", "}
            <code>{name}</code>
          </span>
        ))}
        {other.found.length > 8 && ` and ${other.found.length - 8} more`}. {other.send}
      </>
    ),
  judged_earlier_revision: (trace, evaluating) => (
    <>
      <b>
        The verdict is for revision {numberText(trace.run?.revision ?? 0)}; the trace is now at revision{" "}
        {numberText(trace.revision)}.
      </b>{" "}
      {evaluating
        ? "The next evaluation includes the changes."
        : `The changes are not evaluated automatically. Resend the trace with ${freshIdentity(trace)}.`}
    </>
  ),
};

function RunLink({ run: { id, launchId } }: { run: RunDetail }) {
  const { projectId, agentId } = route.useParams();
  return (
    <Link
      to="/projects/$projectId/agents/$agentId/runs/$launchId/$runId"
      params={{ projectId, agentId, launchId: launchId!, runId: id }}
    >
      Compare both in the test run
    </Link>
  );
}

function Orphans({ trace }: { trace: TraceOutline }) {
  const ids = new Set(trace.spans.map(({ spanId }) => spanId));
  const count = trace.spans.filter(({ parentSpanId }) => parentSpanId && !ids.has(parentSpanId)).length;
  return (
    <>
      <b>
        {count > 0
          ? `${counted(count, "span")} ${count === 1 ? "has" : "have"} a parent that is not in the trace`
          : "Some spans are their own ancestors"}
        .
      </b>{" "}
      {count === 1 ? "It is" : "They are"} shown at the top level of the tree. If a parent is not exported,
      use its nearest exported ancestor as the parent.
    </>
  );
}

/** What the sender must change so that the same data becomes a new trace. */
function freshIdentity({ path }: TraceOutline): string {
  return path === "otlp" ? "a new trace id" : "a new x-request-id";
}

/** The fields that affect a verdict; name and status do not. */
const verdictFields = ["passiveBehavior", "scenario", "threshold", "turns", "assertions"] as const;

function changedTests(run: RunDetail, tests: ListedTest[]): { name: string }[] {
  const current = new Map(tests.map(test => [test.id, test]));
  return run.results.filter(({ testId, test }) => {
    const now = current.get(testId);
    return now && verdictFields.some(field => JSON.stringify(now[field]) !== JSON.stringify(test[field]));
  });
}
