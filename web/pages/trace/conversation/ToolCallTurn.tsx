// A tool call as a card: arguments, result, duration, and whether it failed.

import { Link, useParams } from "@tanstack/react-router";
import type { Passage, Turn } from "../../../../src/model/trace/shown.ts";
import { durationText, numberText } from "../../../format.ts";
import { Badge } from "../../../ui/Badge.tsx";
import { Icon } from "../../../ui/Icon.tsx";
import { TraceText } from "../../../ui/TraceText.tsx";
import { CopyPassages } from "./CopyPassages.tsx";
import { PassageValue } from "./PassageText.tsx";
import { TurnPlace } from "./TurnPlace.tsx";
import { useTurns } from "./turns.ts";

type ToolCall = Extract<Turn, { kind: "tool_call" }>;

const failed = { text: "Failed", icon: "cross", tone: "bad" } as const;

/** Longer values are folded at first. */
const openMax = 1_500;

export function ToolCallTurn({ turn }: { turn: ToolCall }) {
  const name = turn.name || "unnamed tool";
  return (
    <article className="turn-call" aria-label={`Tool call ${name}`} data-failed={turn.failed || undefined}>
      <header className="turn-top">
        <span className="turn-who">
          <Icon name="tool" />
          <code className="break">{name}</code>
        </span>
        {turn.failed && <Badge word={failed} />}
        {turn.durationMs !== null && <span className="quiet small">{durationText(turn.durationMs)}</span>}
        <span className="turn-actions">
          <ForbidCall turn={turn} />
          <TurnPlace turn={turn} />
        </span>
      </header>
      {turn.error && (
        <p className="span-message">
          <TraceText text={turn.error} />
        </p>
      )}
      <Part title="Arguments" passage={turn.arguments} of={name} />
      <Part title="Result" passage={turn.result} of={name} />
      <MissingParts turn={turn} />
    </article>
  );
}

function MissingParts({ turn }: { turn: ToolCall }) {
  const { trace } = useTurns();
  if (turn.result !== null) return null;
  let text = "No result recorded";
  if (trace.notices.includes("content_not_stored")) {
    const parts = turn.arguments === null ? "Arguments and result" : "Result";
    text = `${parts} ${trace.contentForgottenAt === null ? "not stored" : "dropped"}`;
  }
  return <p className="quiet small">{text}</p>;
}

/** Opens a new test that forbids the call. Calls without a span of their own are not counted by checks. */
function ForbidCall({ turn: { spanId, name } }: { turn: ToolCall }) {
  const { trace } = useTurns();
  const { projectId = "" } = useParams({ strict: false });
  if (trace.spans.find(span => span.spanId === spanId)?.role !== "tool") return null;
  return (
    <Link
      to="/projects/$projectId/agents/$agentId/tests/$testId"
      params={{ projectId, agentId: trace.agentId, testId: "new" }}
      search={{ trace: trace.id, span: spanId, mustNot: "true" }}
      className="small"
      title="Create a test that fails when this tool is called"
      aria-label={`Forbid this call: ${name}`}
    >
      Forbid this call
    </Link>
  );
}

function Part({ title, passage, of }: { title: string; passage: Passage | null; of: string }) {
  if (passage === null) return null;
  return (
    <div className="turn-part">
      <details open={passage.length <= openMax}>
        <summary>
          {title}
          {passage.length > openMax && `, ${numberText(passage.length)} characters`}
        </summary>
        <PassageValue passage={passage} label={`${title} of ${of}`} />
      </details>
      <CopyPassages passages={[passage]} what={title.toLowerCase()} of={of} />
    </div>
  );
}
