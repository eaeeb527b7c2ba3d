// Maps conversations and their turns to API responses.
import type { Outcome } from "../../model/run/outcome.ts";
import type { ConversationRow, TurnRow } from "../../store/trace-lists/conversations.ts";
import type { TurnPart } from "../../trace-reader/turn.ts";
import type { ConversationSummary } from "./conversations-schemas.ts";
import type { ListedTrace } from "./schemas.ts";

const worstFirst: Outcome[] = ["failed", "missing_instrumentation", "skipped", "passed"];

/** `tracesMax`: how many traces were counted at most. */
export function conversationView(
  agentId: string,
  { traces, firstAt, lastAt, ...row }: ConversationRow,
  tracesMax: number,
): ConversationSummary {
  const { conversationId, kind, firstTraceId, lastTraceId, userInput, responseText, userId } = row;
  const { verdicts, notFullyEvaluated } = row;
  return {
    ...{
      conversationId,
      agentId,
      kind,
      firstTraceId,
      lastTraceId,
      userInput,
      responseText,
      userId,
      redacted: row.redacted ?? [],
      verdicts,
      notFullyEvaluated,
    },
    traces: { count: Math.min(traces, tracesMax), more: traces > tracesMax },
    firstAt: timeOf(firstAt),
    lastAt: timeOf(lastAt),
    verdict: worstFirst.find(outcome => verdicts[outcome] > 0) ?? null,
  };
}

/** Without `part`, the trace could not be read here: the texts are those of lists. */
export function turnPartView(
  listed: ListedTrace,
  { turnAt, hasContent }: TurnRow,
  part: TurnPart | undefined,
) {
  return {
    startedAt: timeOf(turnAt),
    hasContent,
    userInput: part ? part.userInput : listed.userInput,
    responseText: part ? part.reply : listed.responseText,
    shortened: part?.shortened ?? true,
    toolCalls: part?.calls ?? [],
    toolCallCount: part?.callCount ?? null,
  };
}

const timeOf = (microseconds: number): string => new Date(Math.floor(microseconds / 1000)).toISOString();
