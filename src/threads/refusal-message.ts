// How a Refusal crosses a thread: as data, because a structured clone of an Error keeps little more than its message.
import { Refusal, type RefusalCode, type RefusalDetail } from "../model/refusal.ts";

export type RefusalMessage = { code: RefusalCode; detail: RefusalDetail };

/** Without its cause, which is for the log of the thread it happened on. */
export function messageOf({ code, message, hint, issues, retryAfterSeconds }: Refusal): RefusalMessage {
  const detail = {
    message,
    ...(hint !== undefined && { hint }),
    ...(issues && { issues }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
  return { code, detail };
}

export function refusalOf({ code, detail }: RefusalMessage): Refusal {
  return new Refusal(code, detail);
}
