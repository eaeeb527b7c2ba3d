// In a manual run the user's input is the message that was sent, not the prompt of the trace's latest model call.

import { sumOf } from "../../model/redaction.ts";
import type { SentMessage } from "../../model/run/launch.ts";
import { receivedAttributes } from "../../model/run/received.ts";
import type { Turn } from "../../model/trace/trace.ts";

/** A place in the trace that says the same stays. */
export function withSentMessage({ trace, derived }: Turn, { text, redactions }: SentMessage): Turn {
  const { userInput, rootSpanId, notices } = derived;
  if (userInput?.text === text) return { trace, derived };
  const spanId = rootSpanId ?? "";
  const attribute = receivedAttributes.input;
  return {
    trace: { ...trace, ...(redactions && { redactions: sumOf([trace.redactions, redactions])! }) },
    derived: {
      ...derived,
      userInput: { text, spanId, attribute },
      notices: notices.filter(notice => notice !== "no_user_input"),
    },
  };
}
