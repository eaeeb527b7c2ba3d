// Serializes a Refusal for messages between threads: the structured clone of an Error keeps little but its message.
import { errorText } from "../log/error-text.ts";
import { Refusal, type RefusalDetail } from "../model/refusal.ts";
import type { RefusalCode } from "../model/refusals.ts";

export type RefusalMessage = { code: RefusalCode; detail: RefusalDetail };

/** Of the cause, which is for the log, only the text. */
export function messageOf({
  code,
  message,
  hint,
  issues,
  retryAfterSeconds,
  agentId,
  cause,
}: Refusal): RefusalMessage {
  const detail = {
    message,
    ...(hint !== undefined && { hint }),
    ...(issues && { issues }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(agentId !== undefined && { agentId }),
    ...(cause !== undefined && { cause: errorText(cause) }),
  };
  return { code, detail };
}

export function refusalOf({ code, detail }: RefusalMessage): Refusal {
  return new Refusal(code, detail);
}
