// Serializes a Refusal for messages between threads: the structured clone of an Error keeps little but its message.
import { Refusal, type RefusalCode, type RefusalDetail } from "../model/refusal.ts";

export type RefusalMessage = { code: RefusalCode; detail: RefusalDetail };

/** Omits the cause, which the thread that threw the Refusal logs. */
export function messageOf({
  code,
  message,
  hint,
  issues,
  retryAfterSeconds,
  agentId,
}: Refusal): RefusalMessage {
  const detail = {
    message,
    ...(hint !== undefined && { hint }),
    ...(issues && { issues }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(agentId !== undefined && { agentId }),
  };
  return { code, detail };
}

export function refusalOf({ code, detail }: RefusalMessage): Refusal {
  return new Refusal(code, detail);
}
