// One question put to a model over HTTP: its text, or in which way there was none.

import { APICallError, type LanguageModelV4 } from "@ai-sdk/provider";
import type { z } from "zod";
import { type JudgeConnection, type JudgeMode, judgeModes } from "../../model/judge/call.ts";
import { AnswerTooLong, type Fault, faultOf, late } from "./faults.ts";
import { callOptions, modesOf, openModel, refusesMode, textOf } from "./models.ts";
import type { Prompt } from "./prompts.ts";

/** An answer longer than this is given up on. */
export const answerBytesMax = 1_048_576;

/** What came back, if anything did. `spoiled` says why a text cannot be relied on. Tokens are 0 where unsaid. */
export type Came = { mode: JudgeMode; inputTokens: number; outputTokens: number } & (
  | { state: "answered"; text: string; spoiled: string | undefined }
  | (Fault & { text: null })
);

/** Puts one prompt; never rejects. `signal` must end the call in time. */
export type Caller = (prompt: Prompt, shape: z.ZodType, signal: AbortSignal) => Promise<Came>;

export type CallerOptions = {
  fetch?: typeof globalThis.fetch;
  /** What is known to work; where the provider has none such, the next weaker that it has. */
  mode: JudgeMode | null;
  now: () => number;
};

/**
 * A caller that goes on to the next weaker mode where the server refuses one, and keeps to it while it lives. Tokens are
 * those of all calls that took.
 */
export function createCaller(connection: JudgeConnection, options: CallerOptions): Caller {
  const modes = modesOf(connection.provider);
  const first = judgeModes.indexOf(options.mode ?? judgeModes[0]!);
  let mode = modes.find(mode => judgeModes.indexOf(mode) >= first)!;
  let model: Promise<LanguageModelV4> | undefined;
  const weaker = (than: JudgeMode) => modes[modes.indexOf(than) + 1];

  return async (prompt, shape, signal) => {
    for (let tried = mode; ; ) {
      try {
        model ??= openModel(connection, boundedFetch(options.fetch ?? globalThis.fetch));
        const answer = await (await model).doGenerate({
          ...callOptions(prompt, shape, tried),
          abortSignal: signal,
        });
        if (modes.indexOf(tried) > modes.indexOf(mode)) mode = tried;
        return { mode: tried, ...answered(answer) };
      } catch (error) {
        const { statusCode, responseBody } = APICallError.isInstance(error) ? error : {};
        const next = weaker(tried);
        if (next !== undefined && !signal.aborted && refusesMode(tried, statusCode, responseBody)) {
          tried = next;
          continue;
        }
        const fault = signal.aborted ? late : faultOf(error, options.now());
        return { mode: tried, text: null, inputTokens: 0, outputTokens: 0, ...fault };
      }
    }
  };
}

function answered({ content, finishReason, usage }: Awaited<ReturnType<LanguageModelV4["doGenerate"]>>) {
  return {
    state: "answered" as const,
    text: textOf(content),
    spoiled: spoiling[finishReason.unified],
    inputTokens: tokens(usage.inputTokens.total),
    outputTokens: tokens(usage.outputTokens.total),
  };
}

// What a server says that no call can take must not keep the call from being counted.
function tokens(said: number | undefined): number {
  return Math.min(Math.max(Math.round(said ?? 0), 0), 100_000_000);
}

const spoiling: Record<string, string | undefined> = {
  length: "It was cut short.",
  "content-filter": "It refuses to answer, or a content filter withheld what it said.",
  error: "It gave up on its answer.",
  interrupted: "It gave up on its answer.",
};

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
