// Serializes a Refusal for messages between threads: the structured clone of an Error keeps little but its message.
import { Refusal, type RefusalCode, type RefusalDetail } from "../model/refusal.ts";

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
    ...(cause !== undefined && { cause: causeText(cause) }),
  };
  return { code, detail };
}

/** Of several addresses that refused a connection, the error has no message. */
export function causeText(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const { message, code } = cause as Error & { code?: unknown };
  return message || String(code ?? cause.name);
}

export function refusalOf({ code, detail }: RefusalMessage): Refusal {
  return new Refusal(code, detail);
}
