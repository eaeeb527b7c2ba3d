// What Onlooker itself received in a turn of a manual run: it counts over the agent's trace, and a failed call fails the test.

import { sumOf } from "../model/redaction.ts";
import { cutReply, type RunTurn } from "../model/run/launch.ts";
import type { Reason } from "../model/run/reason.ts";
import { type Received, receivedAttributes } from "../model/run/received.ts";
import type { TestCase } from "../model/test-case/document.ts";
import type { Derived, FoundText, Turn } from "../model/trace/trace.ts";
import { isBlank } from "../reading/span/conversation.ts";
import { includesStatus } from "./checks/http-status.ts";

/**
 * The turn with the status, the reply and the time that Onlooker received, whatever the trace says of them; a place in
 * the trace that says the same stays. The trace adds steps, tool calls and tokens, and the reply where the connection
 * reads it from there.
 */
export function withReceived({ trace, derived }: Turn, received: Received): Turn {
  const spanId = derived.rootSpanId ?? "";
  const { status, ms, error } = received;
  const { httpStatus, judgedText, responseText, userInput } = derived;
  const isInTrace = received.replyFrom === "trace";
  const reply = isInTrace
    ? error
      ? null
      : (judgedText ?? responseText)
    : replyOf(received.text, [judgedText, responseText], spanId);
  const redactions = sumOf([trace.redactions, isInTrace ? null : received.redactions]);
  return {
    trace: {
      ...trace,
      ...(redactions && { redactions }),
      received: {
        time: !isInTrace,
        ...(!isInTrace && received.text !== null && { reply: true as const }),
        ...(error && { failed: true as const }),
      },
    },
    derived: {
      ...derived,
      httpStatus:
        httpStatus?.value === status
          ? httpStatus
          : status === null
            ? null
            : { value: status, spanId, attribute: receivedAttributes.status },
      responseText: reply,
      judgedText: reply,
      userInput: userInput ?? { text: received.input, spanId, attribute: receivedAttributes.input },
      // The trace's own time says when the agent was done; of the answer "accepted" the time says nothing.
      durationMs: isInTrace ? derived.durationMs : ms,
      failed: derived.failed || error !== null,
    },
  };
}

function replyOf(text: string | null, inTrace: (FoundText | null)[], spanId: string): FoundText | null {
  if (text === null || isBlank(text)) return null;
  return inTrace.find(found => found?.text === text) ?? { text, spanId, attribute: receivedAttributes.reply };
}

/** What the trace says otherwise; empty for one that was made of what was received. */
export function differencesOf(
  { httpStatus, judgedText, responseText }: Pick<Derived, "httpStatus" | "judgedText" | "responseText">,
  { status, text, replyFrom }: Received,
): Pick<RunTurn, "statusInTrace" | "replyInTrace"> {
  const found = [judgedText, responseText].flatMap(one => one?.text || []);
  const isSame = replyFrom === "trace" || found.some(one => spaced(one) === spaced(text ?? ""));
  return {
    ...(httpStatus && httpStatus.value !== status ? { statusInTrace: httpStatus.value } : {}),
    ...(found[0] === undefined || isSame ? {} : { replyInTrace: cutReply(found[0]) }),
  };
}

function spaced(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/**
 * Why the test failed whatever its checks say: its last turn ended in a transport error, a timeout, an error status or
 * an unreadable reply. Only a status can be what the test asks for.
 */
export function agentErrorOf(
  { assertions, turns }: Pick<TestCase, "assertions" | "turns">,
  received: Received[],
): Reason | undefined {
  const last = received.at(-1);
  if (!last?.error) return undefined;
  const { turn, status, text, error } = last;
  // The reply is fine; the conversation is too long to go on.
  if (error.code === "too_large" && text !== null) return undefined;
  const isExpected =
    error.code === "http_status" &&
    status !== null &&
    assertions.some(
      assertion =>
        assertion.type === "http_status" &&
        !assertion.negate &&
        includesStatus(assertion.expected_status, status) &&
        [undefined, "each", turn, turn === turns.length ? "last" : turn].includes(assertion.turn),
    );
  if (isExpected) return undefined;
  return {
    code: "agent_error",
    data: { ...(turns.length > 1 ? { turn } : {}), error: error.code, message: error.reason },
  };
}
