// One HTTP call to a language model: its text, or why there is none.

import { AISDKError, APICallError, type LanguageModelV4, type LanguageModelV4Usage } from "@ai-sdk/provider";
import type { z } from "zod";
import { type JudgeCall, type JudgeConnection, type JudgeMode, judgeModes } from "../../model/judge/call.ts";
import { type Unanswered, unanswered } from "../../model/judge/outcome.ts";
import type { JudgeReason } from "../../model/judge/reason.ts";
import { connectionFault } from "../connection-fault.ts";
import type { Outbound, OutboundInit } from "../outbound.ts";
import { readError } from "./error-reply.ts";
import { faultOf } from "./errors.ts";
import {
  callOptions,
  modesOf,
  openModel,
  type PromptFormat,
  rejectsMode,
  rejectsTemperature,
  textOf,
} from "./models.ts";
import { type Prompt, tokensOf, tokensOfText } from "./prompts.ts";

/** Longer answers are aborted. */
export const answerBytesMax = 1_048_576;

/** The format that was used in the end. `failure`: why the text, if there is one, cannot be used. */
export type CallResult = PromptFormat &
  Usage &
  ({ text: string; failure: Unanswered | null } | { text: null; failure: Unanswered });

/** `varied`: a further vote, at the model's default temperature. */
export type ModelCall = { prompt: Prompt; shape: z.ZodType; varied: boolean };

/**
 * Sends one prompt, in this format or, if the server rejects it, in the next weaker one; never rejects. Tokens are those of the
 * call that was answered. `signal` must end the call in time.
 */
export type ModelCaller = (call: ModelCall, from: PromptFormat, signal: AbortSignal) => Promise<CallResult>;

export function createModelCaller(
  connection: JudgeConnection,
  options: { fetch?: typeof globalThis.fetch; now: () => number },
): ModelCaller {
  const modes = modesOf(connection.provider);
  let model: Promise<LanguageModelV4> | undefined;

  return async (call, from, signal) => {
    for (let tried = from; ; ) {
      try {
        model ??= openModel(connection, boundedFetch(options.fetch ?? globalThis.fetch));
        const { content, finishReason, usage } = await (await model).doGenerate({
          ...callOptions(call.prompt, call, tried),
          abortSignal: signal,
        });
        const text = textOf(content);
        const unfinished = unfinishedBy[finishReason.unified];
        return {
          ...tried,
          text,
          failure: unfinished ? unanswered("unusable", unfinished) : null,
          ...usageOf(usage, call.prompt, text),
        };
      } catch (error) {
        const next = signal.aborted ? undefined : fallbackOf(error, call, tried, modes, options.now());
        if (next) {
          tried = next;
          continue;
        }
        const failure = signal.aborted ? timedOut : failureOf(error, options.now());
        return { ...tried, text: null, failure, ...noUsage };
      }
    }
  };
}

/** The first format of the provider that is no stricter than this mode; null: not known. */
export function formatFrom(
  { provider }: Pick<JudgeConnection, "provider">,
  mode: JudgeMode | null,
  taken: Omit<PromptFormat, "mode">,
): PromptFormat {
  const first = judgeModes.indexOf(mode ?? judgeModes[0]!);
  return { ...taken, mode: modesOf(provider).find(mode => judgeModes.indexOf(mode) >= first)! };
}

/** Whether a format drops what the other has. */
export function isWeaker(one: PromptFormat, other: PromptFormat): boolean {
  return (
    judgeModes.indexOf(one.mode) > judgeModes.indexOf(other.mode) ||
    (!one.systemRole && other.systemRole) ||
    (!one.temperature && other.temperature)
  );
}

/** The format to try next, if the server rejected this one rather than the question, as far as its words tell. */
function fallbackOf(
  error: unknown,
  { varied }: ModelCall,
  format: PromptFormat,
  modes: JudgeMode[],
  now: number,
): PromptFormat | undefined {
  const reply = APICallError.isInstance(error) ? readError(error, now) : undefined;
  if (!reply) return undefined;
  const { mode, systemRole, temperature } = format;
  const fault = faultOf(reply)?.code;
  if (fault === "judge_system_role_rejected" && systemRole) return { ...format, systemRole: false };
  if (fault !== undefined && fault !== "judge_not_found") return undefined;
  const body = (error as APICallError).responseBody;
  if (temperature && !varied && rejectsTemperature(reply.status, body)) {
    return { ...format, temperature: false };
  }
  const next = modes[modes.indexOf(mode) + 1];
  return next !== undefined && rejectsMode(mode, reply.status, body) ? { ...format, mode: next } : undefined;
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
  if (error.statusCode === undefined) {
    const { reached, why } = connectionFault(error);
    return unanswered("later", { code: reached ? "judge_broken_off" : "judge_unreachable", data: { why } });
  }
  const reply = readError(error, now);
  if (!reply) {
    // A connection that ends in mid-chunk is reported as a parse error, caused by "terminated".
    const isCutOff = error.isRetryable || causes.some(({ message }) => message === "terminated");
    return isCutOff ? unanswered("later", { code: "judge_cut_off", data: {} }) : notAModel;
  }
  const { status, retryMs } = reply;
  const fault = faultOf(reply);
  if (fault?.state === "later") {
    const detail = { code: fault.code, data: waitOf(retryMs) } as JudgeReason;
    return unanswered("later", detail, now + (retryMs ?? quotaRetryMs));
  }
  if (fault) {
    const detail = (
      fault.code === "judge_answer_malformed" ? { code: fault.code } : { code: fault.code, data: { status } }
    ) as JudgeReason;
    return unanswered(fault.state, detail);
  }
  if (status < 300) return notAModel;
  if (status === 408 || status === 409 || status === 429 || status >= 500) {
    const detail = { code: "judge_http_error", data: { status, ...waitOf(retryMs) } } as const;
    return unanswered("later", detail, retryMs === null ? null : now + retryMs);
  }
  return status < 400
    ? unanswered("refused", { code: "judge_redirected", data: { status } })
    : unanswered("unusable", { code: "judge_request_rejected", data: { status } });
}

/** Nobody tells us when credit is added or a budget resets, so calls continue, but rarely. */
const quotaRetryMs = 60_000;

function waitOf(retryMs: number | null): { waitMs?: number } {
  return retryMs !== null && retryMs >= 1_000 ? { waitMs: Math.round(retryMs) } : {};
}

/** The error and its causes, outermost first. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let at = error; at instanceof Error && !causes.includes(at); at = at.cause) causes.push(at);
  return causes;
}
