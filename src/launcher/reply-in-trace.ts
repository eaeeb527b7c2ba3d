// Reads the reply of a turn from its trace, where the connection says that it is there.
import type { LoadedTrace } from "../load.ts";
import type { AgentReply } from "../model/agent/call.ts";
import { ValueAllowance } from "../model/json-text.ts";
import { countIn, type RuleCounts, rulesOf, sumOf } from "../model/redaction.ts";
import { standingOf } from "../model/run/sent-trace.ts";
import type { Span } from "../model/trace/trace.ts";
import { finishReasonsIn } from "../reading/span/finish-reasons.ts";
import { outputMessages } from "../reading/span/span-messages.ts";

export type ReplyInTrace = Pick<AgentReply, "text" | "error"> & { redactions?: RuleCounts };

/**
 * Undefined if the trace has none, or only what the agent said in between. `isLast`: nothing more is to come. A trace whose
 * content is not stored never has one.
 */
export function replyIn(
  loaded: LoadedTrace,
  w3cTraceId: string,
): { reply: ReplyInTrace; isLast: boolean } | undefined {
  if (loaded.trace.content) return { reply: { text: null, error: null }, isLast: true };
  const { judgedText, responseText } = loaded.derived;
  const found = judgedText ?? responseText;
  if (!found?.text) return undefined;
  const { spans, path } = loaded.read;
  const standing = path === "canonical" ? "covered" : standingOf(spans, found.spanId, w3cTraceId);
  const span = spans.find(one => one.span_id === found.spanId);
  if (standing === "open" || (path === "otlp" && span && callsTools(span))) return undefined;
  const redactions = sumOf([countIn(found.text, rulesOf(loaded.trace.redactions))]);
  const reply = { text: found.text, error: null, ...(redactions && { redactions }) };
  return { reply, isLast: standing === "covered" };
}

/** Whether the model answered with calls of tools, beside which it may say what it is about to do. */
function callsTools(span: Span): boolean {
  if (finishReasonsIn(span).some(reason => /tool|function/i.test(reason))) return true;
  const lists = outputMessages(span, new ValueAllowance());
  return lists.some(({ messages }) => (messages.at(-1)?.calls.length ?? 0) > 0);
}

export function noReply(waitMs: number): ReplyInTrace {
  const reason = `No trace with a reply arrived within ${waitMs / 1000} s.`;
  return { text: null, error: { code: "no_reply", reason } };
}
