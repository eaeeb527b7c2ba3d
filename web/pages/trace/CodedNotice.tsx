// The notices that a trace has by code: what limits its checks, and what its sender can change.
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RunDetail } from "../../../src/http/traces/run-schemas.ts";
import type { TraceOutline } from "../../../src/http/traces/schemas.ts";
import type { Noise, Notice as NoticeCode } from "../../../src/model/trace/trace.ts";
import { momentText, numberText } from "../../format.ts";
import { MessagesInLogs } from "../../forms/MessagesInLogs.tsx";
import { Reevaluate } from "../../forms/Reevaluate.tsx";
import { counted } from "../../labels.ts";
import { Notice } from "../../ui/Notice.tsx";
import { useHasJudge } from "../judge-usage/NoJudge.tsx";
import { Brief } from "./Brief.tsx";
import { SeveralCalls } from "./SeveralCalls.tsx";
import { freshIdentity } from "./words.ts";

const route = getRouteApi("/member/projects/$projectId/agents/$agentId/traces/$traceId");

type CodedProps = {
  code: NoticeCode;
  trace: TraceOutline;
  evaluating: boolean;
  /** Another notice offers to re-evaluate. */
  isOffered: boolean;
};

export function CodedNotice({ code, trace, evaluating, isOffered }: CodedProps) {
  const { projectId } = route.useParams();
  const hasJudge = useHasJudge(projectId);
  if (code === "routing_unavailable" && !hasJudge) return <NoJudgeNotice projectId={projectId} />;
  if (code === "several_model_calls") return <SeveralCalls trace={trace} />;
  if (code === "judged_earlier_revision" && trace.kind === "test_run" && !evaluating) {
    return <ChangedInRun trace={trace} isOffered={isOffered} />;
  }
  return (
    <Notice tone={code === "routing_unavailable" ? "warn" : "info"}>
      <Brief>{noticeTexts[code](trace, evaluating)}</Brief>
    </Notice>
  );
}

function Forgotten({ at }: { at: string }) {
  return (
    <>
      <b>Content was dropped on {momentText(at)},</b> as the agent is set to forget it. Verdicts, scores,
      tokens and cost are those of its evaluation; texts, and what checks quoted, are gone. The trace cannot
      be evaluated again.
    </>
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

const noiseTexts: Record<Noise, string> = {
  mcp_client: "An MCP client connected or listed tools, and nothing else happened",
  health_check: "Only health checks happened",
  expression: "A workflow tool computed expressions, and nothing else happened",
};

/** A new notice code does not compile until it has its text here. */
const noticeTexts: Record<
  Exclude<NoticeCode, "several_model_calls">,
  (trace: TraceOutline, evaluating: boolean) => ReactNode
> = {
  no_user_input: ({ path, conventions }) => (
    <>
      <b>No user input was available</b>, so “Run when relevant” tests did not run. Send{" "}
      <code>gen_ai.input.messages</code> or <code>gen_ai.prompt</code> on the span of the model call.
      {path === "otlp" && <MessagesInLogs hasConventions={conventions.length > 0} />}
    </>
  ),
  noise: ({ noise }) => (
    <>
      <b>Noise, not evaluated:</b> {noise ? noiseTexts[noise] : "No agent did anything"} in this trace. Lists
      show it only if a filter asks for it. Other spans that arrive later change that.
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
        <b>The reply or status that Onlooker received differs from this trace.</b> Onlooker evaluated what it
        received. {run && <RunLink run={run} />}
      </>
    );
  },
  content_not_stored: ({ contentForgottenAt }) =>
    contentForgottenAt !== null ? (
      <Forgotten at={contentForgottenAt} />
    ) : (
      <>
        <b>Content was not stored.</b> The trace has its structure, times, tokens, names and status. Checks
        that need content show “Missing instrumentation”, and no scenario was matched.
      </>
    ),
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

/** The trace of a manual run, which is evaluated again in place. */
function ChangedInRun({ trace, isOffered }: { trace: TraceOutline; isOffered: boolean }) {
  const params = route.useParams();
  return (
    <Notice tone="warn">
      <div className="line line-apart">
        <p>
          <b>The trace changed after its test run was evaluated.</b> Re-evaluate to include the changes; the
          agent is not called again.
        </p>
        {!isOffered && <Reevaluate {...params} what={{ traceIds: [trace.id] }} />}
      </div>
    </Notice>
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
