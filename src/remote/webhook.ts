// Posts a message to a webhook, signed in the form of Standard Webhooks (https://www.standardwebhooks.com).
import { Webhook } from "standardwebhooks";
import { connectionFault } from "./connection-fault.ts";
import { type Outbound, OutboundRefused } from "./outbound.ts";

export type WebhookMessage = {
  url: string;
  secret: string;
  /** The same for every attempt, so that the receiver recognizes a repetition. */
  id: string;
  body: string;
};

/** `error` is a sentence for the owner; null: the receiver answered with 2xx. */
export type WebhookAnswer = { status: number | null; error: string | null };

const timeoutMs = 15_000;
const replyBytesMax = 65_536;

/** Never throws, and never repeats the URL or the answer: either may contain a secret. */
export async function postWebhook(
  outbound: Pick<Outbound, "fetch">,
  { url, secret, id, body }: WebhookMessage,
  signal: AbortSignal,
): Promise<WebhookAnswer> {
  const now = new Date();
  const headers = {
    "content-type": "application/json",
    "user-agent": "Onlooker",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign(id, now, body),
  };
  const limits = { timeoutMs, replyBytesMax, redirectsMax: 0 };
  try {
    const response = await outbound.fetch(url, { method: "POST", headers, body, signal }, limits);
    await response.body?.cancel();
    const { status, ok } = response;
    return { status, error: ok ? null : `The receiver answered ${status}.` };
  } catch (error) {
    const status = error instanceof OutboundRefused ? error.status : null;
    return { status, error: reasonOf(error, signal) };
  }
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return "The service was stopped during the attempt.";
  if (error instanceof OutboundRefused) return error.message;
  if ((error as Error).name === "TimeoutError") return `No answer within ${timeoutMs / 1000} s.`;
  const { reached, why } = connectionFault(error);
  return reached ? `The receiver ${why}.` : `The receiver could not be reached: ${why}.`;
}
