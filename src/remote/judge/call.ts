// One HTTP call to a language model: its text, or why there is none.
import { AISDKError, APICallError, type LanguageModelV4, type LanguageModelV4Usage } from "@ai-sdk/provider";
import type { z } from "zod";
import { type JudgeCall, type JudgeConnection, type JudgeMode, judgeModes } from "../../model/judge/call.ts";
import { type Unanswered, unanswered } from "../../model/judge/outcome.ts";
import type { JudgeReason } from "../../model/run/reason.ts";
import type { Outbound, OutboundInit } from "../outbound.ts";
import { callOptions, modesOf, openModel, refusesMode, textOf } from "./models.ts";
import { type Prompt, tokensOf, tokensOfText } from "./prompts.ts";

/** Longer answers are aborted. */
export const answerBytesMax = 1_048_576;

/** `failure`: why the text, if there is one, cannot be used. */
export type CallResult = { mode: JudgeMode } & Usage &
  ({ text: string; failure: Unanswered | null } | { text: null; failure: Unanswered });

/** Sends one prompt; never rejects. `signal` must end the call in time. */
export type ModelCaller = (prompt: Prompt, shape: z.ZodType, signal: AbortSignal) => Promise<CallResult>;

export type ModelCallerOptions = {
  fetch?: typeof globalThis.fetch;
  /** The mode that is known to work; a provider without it starts with its next weaker one. */
  mode: JudgeMode | null;
  now: () => number;
};

/**
 * Falls back to the next weaker mode when the server rejects one, and remembers it. Tokens are those of the call that
 * was answered.
 */
export function createModelCaller(connection: JudgeConnection, options: ModelCallerOptions): ModelCaller {
  const modes = modesOf(connection.provider);
  const first = judgeModes.indexOf(options.mode ?? judgeModes[0]!);
  let mode = modes.find(mode => judgeModes.indexOf(mode) >= first)!;
  let model: Promise<LanguageModelV4> | undefined;

  return async (prompt, shape, signal) => {
    for (let tried = mode; ; ) {
      try {
        model ??= openModel(connection, boundedFetch(options.fetch ?? globalThis.fetch));
        const { content, finishReason, usage } = await (await model).doGenerate({
          ...callOptions(prompt, shape, tried),
          abortSignal: signal,
        });
        if (modes.indexOf(tried) > modes.indexOf(mode)) mode = tried;
        const text = textOf(content);
        const unfinished = unfinishedBy[finishReason.unified];
        return {
          mode: tried,
          text,
          failure: unfinished ? unanswered("unusable", unfinished) : null,
          ...usageOf(usage, prompt, text),
        };
      } catch (error) {
        const { statusCode, responseBody } = APICallError.isInstance(error) ? error : {};
        const next = modes[modes.indexOf(tried) + 1];
        if (next !== undefined && !signal.aborted && refusesMode(tried, statusCode, responseBody)) {
          tried = next;
          continue;
        }
        const failure = signal.aborted ? timedOut : failureOf(error, options.now());
        return { mode: tried, text: null, failure, ...noUsage };
      }
    }
  };
}

const unfinishedBy: Record<string, JudgeReason | undefined> = {
  length: { code: "judge_answer_truncated" },
  "content-filter": { code: "judge_answer_filtered" },
  error: { code: "judge_answer_failed" },
  interrupted: { code: "judge_answer_failed" },
};

type Usage = Pick<JudgeCall, "inputTokens" | "outputTokens" | "tokensEstimated">;

const noUsage: Usage = { inputTokens: 0, outputTokens: 0, tokensEstimated: false };

/** Numbers that are missing or 0 are estimated: without them, a daily budget would never be reached. */
function usageOf(
  { inputTokens: input, outputTokens: output }: LanguageModelV4Usage,
  prompt: Prompt,
  text: string,
): Usage {
  const reported = { input: plausible(input.total), output: plausible(output.total) };
  return {
    inputTokens: reported.input || tokensOf(prompt),
    outputTokens: reported.output || tokensOfText(text),
    tokensEstimated: reported.input === 0 || (reported.output === 0 && text !== ""),
  };
}

// A server that reports an impossible number must not keep the call from being counted.
function plausible(tokens: number | undefined): number {
  return Math.min(Math.max(Math.round(tokens ?? 0), 0), 100_000_000);
}

class AnswerTooLong extends Error {
  override name = "AnswerTooLong";
}

// Redirects are not followed: a prompt and a key go to the configured server or nowhere.
function boundedFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" });
    if (response.body === null) return response;
    let bytes = 0;
    const limit = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > answerBytesMax) controller.error(new AnswerTooLong("The judge's answer is too long"));
        else controller.enqueue(chunk);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
  };
}

/** The fetch for judges whose URL a user entered: guarded against private addresses, without redirects. */
export function judgeFetch(outbound: Pick<Outbound, "fetch">, timeoutMs: number): typeof globalThis.fetch {
  return (input, init = {}) => {
    const { method, headers, body, signal } = init as OutboundInit;
    return outbound.fetch(
      input instanceof Request ? input.url : input,
      { method: method ?? "GET", headers: headers ?? {}, body: body ?? null, signal: signal ?? null },
      { timeoutMs, redirectsMax: 0 },
    );
  };
}

const timedOut = unanswered("later", { code: "judge_timeout", data: {} });
const notAModel = unanswered("unusable", { code: "judge_not_a_model" });

/** Never contains the server's own words: they may repeat the key or the prompt. */
function failureOf(error: unknown, now: number): Unanswered {
  const causes = causesOf(error);
  const isNamed = (...names: string[]) => causes.find(({ name }) => names.includes(name));
  const blocked = isNamed("OutboundRefused");
  if (blocked) return unanswered("refused", { code: "judge_url_blocked", data: { why: blocked.message } });
  if (isNamed("AnswerTooLong", "OutboundTooLarge")) {
    return unanswered("unusable", { code: "judge_answer_too_large" });
  }
  if (APICallError.isInstance(error)) return failureOfResponse(error, causes, now);
  if (AISDKError.isInstance(error)) return notAModel;
  return isNamed("TimeoutError") ? timedOut : unanswered("unusable", { code: "judge_connection_invalid" });
}

function failureOfResponse(error: APICallError, causes: Error[], now: number): Unanswered {
  const { statusCode: status, responseBody: body = "" } = error;
  if (status === undefined) return unanswered("later", { code: "judge_unreachable", data: {} });
  if (status < 300) {
    // A connection that ends in mid-chunk is reported as a parse error, caused by "terminated".
    const isCutOff = error.isRetryable || causes.some(({ message }) => message === "terminated");
    return isCutOff ? unanswered("later", { code: "judge_cut_off", data: {} }) : notAModel;
  }
  const data = { status };
  if (
    status === 402 ||
    (status < 500 && /"insufficient_quota"|"billing_error"|credit balance is too low/.test(body))
  ) {
    return unanswered("budget", { code: "judge_quota_exceeded" });
  }
  // Some routers answer a flagged input with 403: it must not pause the connection for all others.
  if (status === 403 && /moderation|flagged/i.test(body)) {
    return unanswered("unusable", { code: "judge_input_rejected", data });
  }
  // Google answers a wrong key with 400.
  if (
    status === 401 ||
    status === 403 ||
    detailsOf(error).some(({ reason }) => reason === "API_KEY_INVALID")
  ) {
    return unanswered("refused", { code: "judge_key_rejected", data });
  }
  if (status === 404) return unanswered("refused", { code: "judge_not_found", data });
  if (status === 408 || status === 409 || status === 429 || status >= 500) {
    return unanswered("later", { code: "judge_http_error", data }, retryAtOf(error, now));
  }
  return status < 400
    ? unanswered("refused", { code: "judge_redirected", data })
    : unanswered("unusable", { code: "judge_request_rejected", data });
}

type GoogleDetail = { reason?: unknown; retryDelay?: unknown };

function detailsOf({ data }: APICallError): GoogleDetail[] {
  const details = (data as { error?: { details?: GoogleDetail[] | null } } | undefined)?.error?.details;
  return Array.isArray(details)
    ? details.filter(detail => typeof detail === "object" && detail !== null)
    : [];
}

/** From the headers, in seconds, milliseconds or as a date by the server's own clock; Google has it in the body. */
function retryAtOf(error: APICallError, now: number): number | null {
  const headers = error.responseHeaders ?? {};
  const text = headers["retry-after"];
  const theirNow = Date.parse(headers["date"] ?? "") || now;
  const delay = detailsOf(error).find(({ retryDelay }) => typeof retryDelay === "string")?.retryDelay;
  const ms = [
    number(headers["retry-after-ms"]),
    number(text, 1_000),
    text === undefined ? Number.NaN : Date.parse(text) - theirNow,
    number(/^([\d.]+)s$/.exec(String(delay))?.[1], 1_000),
  ].find(ms => !Number.isNaN(ms));
  return ms === undefined ? null : now + Math.max(0, ms);
}

function number(text: string | undefined, unitMs = 1): number {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) * unitMs : Number.NaN;
}

/** The error and its causes, outermost first. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let at = error; at instanceof Error && !causes.includes(at); at = at.cause) causes.push(at);
  return causes;
}
