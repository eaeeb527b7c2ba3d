// In which way a call failed: what may pass, what will not before the connection is edited, and what was no answer.
import { AISDKError, APICallError } from "@ai-sdk/provider";
import type { JudgeCallState } from "../../model/judge/call.ts";

/** `reason`: a sentence that begins with "It". `retryAfterMs`: what the server asked for. */
export type Fault = {
  state: Exclude<JudgeCallState, "ok" | "aborted">;
  reason: string;
  retryAfterMs?: number;
};

/** An answer that was given up on while it was read. */
export class AnswerTooLong extends Error {
  override name = "AnswerTooLong";
}

/** `now` in ms since the epoch. Never passes on the server's own words: they may repeat the key or the prompt. */
export function faultOf(error: unknown, now: number): Fault {
  const refused = causesOf(error).find(({ name }) => name === "OutboundRefused");
  if (refused) return { state: "refused", reason: `It is not called: ${refused.message}` };
  if (causesOf(error).some(({ name }) => name === "AnswerTooLong" || name === "OutboundTooLarge")) {
    return { state: "unusable", reason: "It answered with more than 1 MB." };
  }
  if (!APICallError.isInstance(error)) {
    if (AISDKError.isInstance(error)) return noCompletion;
    return causesOf(error).some(({ name }) => name === "TimeoutError")
      ? late
      : { state: "unusable", reason: "It could not be asked: its address or key may be malformed." };
  }
  const { statusCode: status } = error;
  if (status === undefined) return { state: "later", reason: "It could not be reached." };
  if (status < 300) {
    return brokeOff(error) ? { state: "later", reason: "It broke off its answer." } : noCompletion;
  }
  return faultOfStatus(status, error, now);
}

/** While it was read, whatever else fetch makes of that: a connection that ends in mid-chunk is a parser's fault to it. */
function brokeOff(error: APICallError): boolean {
  return error.isRetryable || causesOf(error).some(({ message }) => message === "terminated");
}

export const late: Fault = { state: "later", reason: "It did not answer in time." };

const noCompletion: Fault = { state: "unusable", reason: "It did not answer as a model's server does." };

function faultOfStatus(status: number, error: APICallError, now: number): Fault {
  const body = error.responseBody ?? "";
  if (
    status === 402 ||
    (status < 500 && /"insufficient_quota"|"billing_error"|credit balance is too low/.test(body))
  ) {
    return { state: "budget", reason: "It says that the provider's quota is used up." };
  }
  // Some routers answer a flagged input so: it must not pause the connection for all others.
  if (status === 403 && /moderation|flagged/i.test(body)) {
    return { state: "unusable", reason: "It refuses this input (403)." };
  }
  if (status === 401 || status === 403 || saysKeyIsInvalid(error.data)) {
    return { state: "refused", reason: `It refuses the API key (${status}).` };
  }
  if (status === 404) return { state: "refused", reason: "It knows no such address or model (404)." };
  if (status === 408 || status === 409 || status === 429 || status >= 500) {
    const retryAfterMs = retryAfterOf(error, now);
    return {
      state: "later",
      reason: `It answered ${status}.`,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
  }
  return status < 400
    ? { state: "refused", reason: `It redirects elsewhere, which is not followed (${status}).` }
    : { state: "unusable", reason: `It refused the request with ${status}.` };
}

type GoogleError = { error?: { details?: { reason?: unknown; retryDelay?: unknown }[] | null } };

// Google answers a wrong key with 400.
function saysKeyIsInvalid(data: unknown): boolean {
  return detailsOf(data).some(({ reason }) => reason === "API_KEY_INVALID");
}

function detailsOf(data: unknown): { reason?: unknown; retryDelay?: unknown }[] {
  const details = (data as GoogleError | undefined)?.error?.details;
  return Array.isArray(details)
    ? details.filter(detail => typeof detail === "object" && detail !== null)
    : [];
}

/** By header, in seconds, milliseconds or as a date by the server's own clock; Google says it in the body. */
function retryAfterOf({ responseHeaders, data }: APICallError, now: number): number | undefined {
  const text = responseHeaders?.["retry-after"];
  const theirNow = Date.parse(responseHeaders?.["date"] ?? "") || now;
  const delay = detailsOf(data).find(({ retryDelay }) => typeof retryDelay === "string")?.retryDelay;
  const said = [
    number(responseHeaders?.["retry-after-ms"]),
    number(text, 1_000),
    text === undefined ? Number.NaN : Date.parse(text) - theirNow,
    number(/^([\d.]+)s$/.exec(String(delay))?.[1], 1_000),
  ].find(ms => !Number.isNaN(ms));
  return said === undefined ? undefined : Math.max(0, said);
}

function number(text: string | undefined, unitMs = 1): number {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) * unitMs : Number.NaN;
}

/** The error and what caused it, from the outside. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let at = error; at instanceof Error && !causes.includes(at); at = at.cause) causes.push(at);
  return causes;
}
