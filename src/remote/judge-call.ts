// One call to an OpenAI-compatible server: its answer, or in which way there was none.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  AISDKError,
  APICallError,
  type FinishReason,
  generateText,
  type LanguageModelUsage,
  NoObjectGeneratedError,
  Output,
} from "ai";
import type { Logger } from "pino";
import type { z } from "zod";
import type { JudgeConfig } from "../config.ts";
import type { Prompt } from "./judge-prompts.ts";

/** The judge is down, busy, or refuses us. `why` completes "it …"; `retryAfterMs` is how long it asked to wait. */
export type Unavailable = {
  state: "unavailable";
  why: string;
  retry: boolean;
  retryAfterMs?: number | undefined;
};

/** It answered, but not this question ("it …"), or says that there is no money left (a sentence). */
export type Unanswered = { state: "unusable"; why: string } | { state: "budget"; why: string };

/** `spoiled` says why the text, as far as there is any, cannot be relied on. Tokens are 0 where unsaid. */
export type Answered = {
  state: "answered";
  text: string;
  spoiled: string | undefined;
  inputTokens: number;
  outputTokens: number;
};

/** `url` is the base, as in `https://api.openai.com/v1`; a bare origin means its `/v1`. */
export type JudgeServer = Pick<JudgeConfig, "url" | "model" | "apiKey">;

/** An answer longer than this is given up on. */
export const answerBytesMax = 1_048_576;

/** Puts one prompt; rejects never. `signal` must end the call in time. */
export type Caller = (
  prompt: Prompt,
  schema: z.ZodType,
  signal: AbortSignal,
) => Promise<Answered | Unanswered | Unavailable>;

// From what binds the model most to what every server has. The shape is also written out in every prompt.
const modes = ["json_schema", "json_object", "text"] as const;

/** A caller that learns how the server takes structured output, and keeps to it while it lives. */
export function createCaller(server: JudgeServer, log: Pick<Logger, "info">): Caller {
  const provider = createOpenAICompatible({
    name: "judge",
    baseURL: baseUrl(server.url),
    supportsStructuredOutputs: true,
    fetch: boundedFetch,
    ...(server.apiKey === undefined ? {} : { apiKey: server.apiKey }),
  });
  const model = provider(server.model);
  let learned = 0;

  async function generate(prompt: Prompt, schema: z.ZodType, mode: number, signal: AbortSignal) {
    // No temperature and no token limit: servers disagree on whether and how these may be sent.
    const common = {
      model,
      instructions: prompt.instructions,
      prompt: prompt.material,
      maxRetries: 0,
      abortSignal: signal,
    };
    try {
      const output =
        modes[mode] === "json_schema" ? Output.object({ schema, name: "answer" }) : Output.json();
      return answered(await generateText(modes[mode] === "text" ? common : { ...common, output }));
    } catch (error) {
      // Thrown for what the SDK's own parser does not take; ours decides.
      if (NoObjectGeneratedError.isInstance(error)) return answered(error);
      throw error;
    }
  }

  return async (prompt, schema, signal) => {
    for (let mode = learned; ; mode += 1) {
      try {
        const answer = await generate(prompt, schema, mode, signal);
        if (mode > learned) {
          learned = mode;
          log.info({ mode: modes[mode] }, "The judge's server refuses stricter structured output");
        }
        return answer;
      } catch (error) {
        if (mode + 1 < modes.length && refusesMode(error)) continue;
        return failureOf(error, signal);
      }
    }
  };
}

type Generated = {
  text: string | undefined;
  finishReason: FinishReason | undefined;
  usage: LanguageModelUsage | undefined;
};

function answered({ text, usage, finishReason }: Generated): Answered {
  return {
    state: "answered",
    text: text ?? "",
    spoiled: finishReason === undefined ? undefined : spoiling[finishReason],
    inputTokens: usage?.inputTokens ?? 0,
    outputTokens: usage?.outputTokens ?? 0,
  };
}

const spoiling: Partial<Record<FinishReason, string>> = {
  length: "it was cut short",
  "content-filter": "a content filter withheld it",
};

function baseUrl(text: string): string {
  const url = new URL(text);
  const path = url.pathname.replace(/\/+$/, "").replace(/\/chat\/completions$/, "");
  return url.origin + (path === "" ? "/v1" : path);
}

// Servers word this refusal in many ways; llama.cpp does so with a 500.
function refusesMode(error: unknown): boolean {
  return (
    APICallError.isInstance(error) &&
    [400, 415, 422, 500, 501].includes(error.statusCode ?? 0) &&
    /response.?format|json.?(schema|object|mode)|structured.?output/i.test(error.responseBody ?? "")
  );
}

// Never passes on the server's own words: they may repeat the key or the prompt.
function failureOf(error: unknown, signal: AbortSignal): Unanswered | Unavailable {
  if (signal.aborted) return { state: "unavailable", why: "it did not answer in time", retry: true };
  if (!APICallError.isInstance(error)) {
    return AISDKError.isInstance(error)
      ? { state: "unusable", why: "it is not a chat completion" }
      : { state: "unavailable", why: "the call could not be made", retry: false };
  }
  const { statusCode: status, isRetryable: retry, responseBody } = error;
  if (status === undefined) return { state: "unavailable", why: "it could not be reached", retry };
  if (status === 402 || responseBody?.includes('"insufficient_quota"')) {
    return { state: "budget", why: "The judge's provider says that its quota is used up." };
  }
  if (status === 401 || status === 403) {
    const why = `it refuses the API key (${status}); check SVC_JUDGE_API_KEY`;
    return { state: "unavailable", why, retry: false };
  }
  if (status === 404) {
    const why = "it knows no such address or model (404); check SVC_JUDGE_URL and SVC_JUDGE_MODEL";
    return { state: "unavailable", why, retry: false };
  }
  if (retry) {
    const why = status < 300 ? "its answer broke off" : `it answered ${status}`;
    return { state: "unavailable", why, retry, retryAfterMs: retryAfterMs(error.responseHeaders) };
  }
  return status < 300
    ? { state: "unusable", why: "it is not a chat completion" }
    : { state: "unusable", why: `the request was refused with ${status}` };
}

function retryAfterMs(headers: Record<string, string> | undefined): number | undefined {
  const text = headers?.["retry-after"];
  if (text === undefined) return undefined;
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

// Redirects are not followed: a prompt goes to the configured server or nowhere.
const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: "manual" });
  if (response.body === null) return response;
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > answerBytesMax) controller.error(new Error("The judge's answer is too long"));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
};
