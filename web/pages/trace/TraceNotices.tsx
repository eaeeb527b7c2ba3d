// What there is to know about a trace and its verdict before trusting either, each with what to do about it.

import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import type { RunDetail, TraceOutline } from "../../../src/http/traces/schemas.ts";
import type { Notice as NoticeCode } from "../../../src/model/trace/trace.ts";
import { numberText } from "../../format.ts";
import { JudgeAgain, usePausedReason } from "../../forms/JudgeAgain.tsx";
import { counted, runStates, type Why, whys } from "../../labels.ts";
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
          <b>The evaluation broke.</b> {run.error} Send the conversation again with {freshIdentity(trace)} to
          have it evaluated.
        </Notice>
      )}
      {!run && <NotEvaluated trace={trace} />}
      {!open && trace.run && (
        <PartlyUnjudged trace={trace} run={trace.runs.find(({ id }) => id === trace.run?.id)} />
      )}
      {trace.notices.map(code => (
        <CodedNotice key={code} code={code} trace={trace} judging={open !== undefined} />
      ))}
      {changed.length > 0 && (
        <Notice tone="info">
          <Brief>
            <b>{changed.length === 1 ? "A test has" : "Tests have"} changed since this run</b>:{" "}
            {changed.map(({ name }) => `“${name}”`).join(", ")}. The results are of{" "}
            {changed.length === 1 ? "the test as it was" : "the tests as they were"}; send the conversation
            with {freshIdentity(trace)} to judge it anew.
          </Brief>
        </Notice>
      )}
    </div>
  );
}

/** Its first line, until somebody asks for the rest: the panes below need the room. */
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
          {run.waiting.reason} Checks that need no judge are shown already. What has no answer by{" "}
          <ClockTime at={run.waiting.until} /> is skipped.
        </Brief>
      </Notice>
    );
  }
  if (run.state === "running") {
    return (
      <Notice tone="info">
        <b>It is being evaluated.</b> The verdict appears here.
      </Notice>
    );
  }
  const wait = due > now ? `in ${remainingText(due - now)}` : "in a moment";
  return (
    <Notice tone="info">
      {trace.path === "otlp" ? (
        <>
          <b>More spans may be arriving.</b> It is evaluated a few seconds after the last of them,{" "}
        </>
      ) : (
        <>
          <b>Its evaluation is about to begin</b>,{" "}
        </>
      )}
      <span className="figures">{wait}</span>.
    </Notice>
  );
}

/** What the judge did not judge and may judge yet. */
function PartlyUnjudged({ trace, run }: { trace: TraceOutline; run: RunDetail | undefined }) {
  const { projectId } = route.useParams();
  const pausedReason = usePausedReason(projectId);
  const checks = run?.results.flatMap(result => result.checks) ?? [];
  const isBudget = checks.some(({ skipped }) => skipped === "budget");
  if (!run || (!run.outage && !isBudget)) return null;
  return (
    <Notice tone="info">
      <div className="line line-apart">
        <p>
          <b>{run.outage ? "An outage of the judge left part of it unjudged." : "The budget was used up."}</b>{" "}
          {pausedReason !== null
            ? `The judge is still paused. ${pausedReason}`
            : run.outage
              ? "What was skipped can be judged now."
              : "What was skipped can be judged once there is more."}
        </p>
        <JudgeAgain projectId={projectId} agentId={trace.agentId} traceId={trace.id} />
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
        <b>It was not evaluated: this agent has no test case.</b> Make one from this trace, and those that
        come next are judged by it.
      </Notice>
    );
  }
  const reasons = new Map<Why, number>();
  for (const { why } of trace.tests) reasons.set(why, (reasons.get(why) ?? 0) + 1);
  const ineligible = [...reasons].filter(([why]) => why !== "not_evaluated" && why !== "pending");
  const wouldRun = trace.tests.length - ineligible.reduce((sum, [, count]) => sum + count, 0);
  return (
    <Notice tone="info">
      <b>It was not evaluated</b>:{" "}
      {wouldRun > 0
        ? `when it came, no test applied; ${counted(wouldRun, "test")} would now. Send it with ${freshIdentity(trace)}.`
        : ineligible.map(([why, count]) => `${counted(count, "test")}: ${lower(whys[why])}`).join(" ")}{" "}
      {tests}
    </Notice>
  );
}

function lower(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

type CodedProps = { code: NoticeCode; trace: TraceOutline; judging: boolean };

function CodedNotice({ code, trace, judging }: CodedProps) {
  const { projectId } = route.useParams();
  const hasJudge = useHasJudge(projectId);
  if (code === "routing_unavailable" && !hasJudge) return <NeverRouted projectId={projectId} />;
  return (
    <Notice tone={code === "routing_unavailable" ? "warn" : "info"}>
      <Brief>{words[code](trace, judging)}</Brief>
    </Notice>
  );
}

/** No fault of the trace, and the same for each. */
function NeverRouted({ projectId }: { projectId: string }) {
  return (
    <Notice tone="info">
      <Brief>
        <b>Routing unavailable: no conditional check was evaluated.</b> No judge: tests that run when relevant
        are not judged.{" "}
        <Link to="/projects/$projectId/settings/judge" params={{ projectId }}>
          Add one
        </Link>
        . Always-run checks ran.
      </Brief>
    </Notice>
  );
}

/** Complete by its type: a further notice does not compile until it has its words. */
const words: Record<NoticeCode, (trace: TraceOutline, judging: boolean) => ReactNode> = {
  no_user_input: () => (
    <>
      <b>No user input was available.</b> Tests that run when relevant cannot be compared with it and do not
      run; Always-run tests do. Send <code>gen_ai.input.messages</code> or <code>gen_ai.prompt</code> on the
      span of the model.
    </>
  ),
  routing_unavailable: () => (
    <>
      <b>Routing unavailable: no conditional check was evaluated.</b> Tests that run when relevant need a
      judge that says whether their scenario fits; it was not configured or did not answer. Always-run checks
      ran.
    </>
  ),
  no_trace_arrived: () => (
    <>
      <b>The agent sent no trace of this turn.</b> This one was made of what was seen: the input, the reply,
      its status and times. What asks for more is missing instrumentation. To have it all judged, let the
      agent go on under the <code>traceparent</code> of the request, or send its trace with the same{" "}
      <code>x-request-id</code>, within the wait set under the agent’s connection.
    </>
  ),
  orphan_spans: trace => <Orphans trace={trace} />,
  no_root: () => (
    <>
      <b>No span is the root.</b> Every span names a parent, so the earliest one stands for the whole. Export
      the span that begins the conversation, without a parent.
    </>
  ),
  no_timing: trace => (
    <>
      <b>{trace.startTimeUnixNano && !trace.endTimeUnixNano ? "No end time." : "No usable times."}</b> There
      is no duration, and checks of response time say missing instrumentation. Send{" "}
      <code>start_time_unix_nano</code> and a later <code>end_time_unix_nano</code> on the root.
    </>
  ),
  other_convention: ({ otherConvention: other }) =>
    other && (
      <>
        <b>It speaks another convention{other.name && ` (${other.name})`}.</b> Found{" "}
        {other.found.slice(0, 8).map((name, index) => (
          <span key={name}>
            {index > 0 && ", "}
            <code>{name}</code>
          </span>
        ))}
        {other.found.length > 8 && ` and ${other.found.length - 8} more`}; checks do not read these.{" "}
        {other.send}
      </>
    ),
  judged_earlier_revision: (trace, judging) => (
    <>
      <b>
        The verdict is of revision {numberText(trace.run?.revision ?? 0)}, the trace is at revision{" "}
        {numberText(trace.revision)} by now.
      </b>{" "}
      {judging
        ? "The next evaluation takes in what has come since."
        : `What came since is not evaluated by itself: send the conversation with ${freshIdentity(trace)}.`}
    </>
  ),
};

function Orphans({ trace }: { trace: TraceOutline }) {
  const ids = new Set(trace.spans.map(({ spanId }) => spanId));
  const count = trace.spans.filter(({ parentSpanId }) => parentSpanId && !ids.has(parentSpanId)).length;
  return (
    <>
      <b>
        {count > 0
          ? `${counted(count, "span")} ${count === 1 ? "names a parent that is" : "name parents that are"} not in the trace`
          : "Some spans are their own ancestors"}
        .
      </b>{" "}
      {count === 1 ? "It stands" : "They stand"} at the top level of the tree. Where a parent is left out,
      point its children at the nearest span that is sent.
    </>
  );
}

/** What makes a conversation another trace, in the words of the way it came by. */
function freshIdentity({ path }: TraceOutline): string {
  return path === "otlp" ? "a new trace id" : "a new x-request-id";
}

/** What decides about a verdict; a new name or status does not. */
const deciding = ["passiveBehavior", "scenario", "threshold", "turns", "assertions"] as const;

function changedTests(run: RunDetail, tests: ListedTest[]): { name: string }[] {
  const current = new Map(tests.map(test => [test.id, test]));
  return run.results.filter(({ testId, test }) => {
    const now = current.get(testId);
    return now && deciding.some(part => JSON.stringify(now[part]) !== JSON.stringify(test[part]));
  });
}
