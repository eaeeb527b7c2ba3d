// A client of one judge: limits its calls, makes them, checks the answers, and records each call with its usage.
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import type {
  Classes,
  ClassifyAsk,
  JudgeCall,
  JudgeConnection,
  JudgeMode,
  JudgeProvider,
  RouteAsk,
  RouteLabels,
  SemanticAsk,
  TokenCount,
  Verdicts,
} from "../../model/judge/call.ts";
import { cancelled, type JudgeOutcome, type Unanswered, unanswered } from "../../model/judge/outcome.ts";
import type { JudgeReason } from "../../model/judge/reason.ts";
import { reasonText } from "../../model/run/reason-text.ts";
import { Semaphore } from "../../threads/semaphore.ts";
import type { SemaphoreLike } from "../../threads/shared-semaphore.ts";
import { type Clock, systemClock } from "../clock.ts";
import { answerSchemas, type GivenAnswer, readClasses, readLabels, readVerdicts } from "./answers.ts";
import { type Asking, createBounds, type Turn } from "./bounds.ts";
import { type CallResult, createModelCaller, formatFrom, isWeaker } from "./call.ts";
import { knownQuestion } from "./known-question.ts";
import { isSameFormat, type PromptFormat } from "./models.ts";
import {
  answerTokens,
  classifyPrompt,
  type Prompt,
  promptVersion,
  routingPrompt,
  semanticPrompt,
  tokensOf,
} from "./prompts.ts";
import { lowCountOf } from "./token-count.ts";

/**
 * What one call asks. `items`: how many labels, verdicts or classes; `read` checks the text of the answer. `varied`: a further
 * vote, which must be no copy of the first.
 */
export type JudgeRequest<T> = {
  kind: JudgeCall["kind"];
  prompt: Prompt;
  items: number;
  read: (answer: GivenAnswer) => JudgeOutcome<T>;
  varied?: true;
};

/** `call` is null if none was made. `alone`: the judge answered a question of our own meanwhile, so it failed at this one only. */
export type JudgeReply<T> = { call: JudgeCall | null; alone?: true } & JudgeOutcome<T>;

/** Never retries. All users of the client share its limits. */
export type JudgeClient = {
  readonly provider: JudgeProvider;
  readonly model: string;
  readonly promptVersion: string;
  /** How many calls of the account wait for their turn. */
  queued(accountId: string): number;
  /** Waits until a call is within the bounds. The turn must be ended, with the reply or, if no call was made, without. */
  enter(request: JudgeRequest<unknown>, asking?: Asking): Promise<Turn | Unanswered>;
  /** Makes the call, whatever the bounds; never rejects. */
  call<T>(request: JudgeRequest<T>, signal?: AbortSignal): Promise<JudgeReply<T>>;
};

export type JudgeClientOptions = {
  log: Pick<Logger, "info" | "warn">;
  /** The mode that is known to work; null: not known yet. */
  mode?: JudgeMode | null;
  /** Whether the model takes a system role, and temperature 0, as far as that is known. */
  systemRole?: boolean;
  temperature?: boolean;
  /** Called when another mode than the known one worked, or a prompt without a system role or a temperature. */
  onMode?: (mode: JudgeMode, systemRole: boolean, temperature: boolean) => void;
  /** Called once, if a server that read a whole prompt counted far fewer tokens than were sent. */
  onLowCount?: (count: TokenCount) => void;
  /**
   * Several accounts use the judge: it counts as refusing or failing only if it does so for a question of our own too, so that
   * what one trace says stops nobody else.
   */
  shared?: boolean;
  /** Replaces the global `fetch`. Redirects are never followed. */
  fetch?: typeof globalThis.fetch;
  /** Default: a semaphore with as many permits as the connection allows. */
  semaphore?: SemaphoreLike;
  clock?: Clock;
};

export function openJudgeClient(connection: JudgeConnection, options: JudgeClientOptions): JudgeClient {
  const { log, onMode, fetch, shared = false, clock = systemClock } = options;
  let { onLowCount } = options;
  const { semaphore = new Semaphore(connection.concurrency) } = options;
  const { provider, model, timeoutMs } = connection;
  const { mode = null, systemRole = true, temperature = true } = options;
  let known = formatFrom(connection, mode, { systemRole, temperature });
  let isTold = mode === known.mode;
  let isConfirming = false as boolean;
  const callModel = createModelCaller(connection, { now: clock.now, ...(fetch ? { fetch } : {}) });
  const bounds = createBounds(connection, semaphore, clock, log);

  function learn(format: PromptFormat): void {
    if (isTold && isSameFormat(format, known)) return;
    const { mode, systemRole, temperature } = format;
    if (mode !== known.mode) log.info({ provider, model, mode }, "The judge needs a weaker output mode");
    if (!systemRole && known.systemRole) log.info({ provider, model }, "The judge takes no system role");
    if (!temperature && known.temperature) log.info({ provider, model }, "The judge takes no temperature");
    known = { mode, systemRole, temperature };
    isTold = true;
    onMode?.(mode, systemRole, temperature);
  }

  /**
   * After an answer. A server may reject a format for what one trace says, so later calls use a weaker one only if a question
   * of our own needs it, too; nor does one glitch lower it. Returns what finding out cost.
   */
  async function learnFrom(format: PromptFormat, signal?: AbortSignal): Promise<Tokens> {
    if (isSameFormat(format, known)) learn(format);
    else if (isWeaker(format, known) && !isConfirming) {
      isConfirming = true;
      const { result, outcome } = await send(ownRequest(), signal);
      isConfirming = false;
      // A model that misjudges ours has answered the other one in this format.
      if (outcome.code === "ok" || (result.text !== null && isSameFormat(result, format))) learn(result);
      return result;
    }
    return noTokens;
  }

  /** Makes one call, whatever the bounds. */
  async function send<T>(
    { kind, prompt, read, varied }: JudgeRequest<T>,
    signal?: AbortSignal,
  ): Promise<{ result: CallResult; outcome: JudgeOutcome<T> }> {
    const signals = [clock.timeout(timeoutMs), ...(signal ? [signal] : [])];
    const shape = answerSchemas[kind];
    const result = await callModel(
      { prompt, shape, varied: varied === true },
      known,
      AbortSignal.any(signals),
    );
    const { text, failure, inputTokens, tokensEstimated } = result;
    if (text === null && signal?.aborted) return { result, outcome: cancelled };
    const tokens = { counted: tokensEstimated ? 0 : inputTokens, estimated: tokensOf(prompt) };
    return { result, outcome: failure ?? read({ text: text!, tokens }) };
  }

  /**
   * Of a call to a shared judge: what befell this question alone concerns no other. A rate limit is one of the key, whatever was
   * asked. `tokens`: what finding out cost.
   */
  async function concerning<T>(
    outcome: JudgeOutcome<T>,
    signal?: AbortSignal,
  ): Promise<{ outcome: JudgeOutcome<T>; isAlone: boolean; tokens: Tokens }> {
    const isRefused = outcome.code === "refused";
    const mayStopAll =
      outcome.code === "later" &&
      (outcome.retryAt === null ? bounds.atLastFailure : !isRateLimit(outcome.detail));
    if (!shared || !(isRefused || mayStopAll)) return { outcome, isAlone: false, tokens: noTokens };
    const { result: tokens, outcome: own } = await send(ownRequest(), signal);
    const isAlone = own.code === "ok" || own.code === "unusable";
    if (own.code === "later" || own.code === "aborted") return { outcome: own, isAlone, tokens };
    if (!isRefused || !isAlone) return { outcome, isAlone, tokens };
    const { status } = outcome.detail.data as { status: number };
    const rejected = unanswered("unusable", { code: "judge_request_rejected", data: { status } });
    return { outcome: rejected, isAlone, tokens };
  }

  return {
    provider,
    model,
    promptVersion,
    queued: bounds.queued,
    enter: ({ kind, prompt, items }, asking = {}) =>
      bounds.enter(tokensOf(prompt) + items * answerTokens[kind], asking),
    async call(request, signal) {
      const { kind, prompt } = request;
      const startedAt = clock.now();
      const sent = await send(request, signal);
      const { mode, text, inputTokens, outputTokens, tokensEstimated } = sent.result;
      const ms = clock.now() - startedAt;
      const { outcome, isAlone, tokens } = await concerning(sent.outcome, signal);
      const learning = outcome.code === "ok" ? await learnFrom(sent.result, signal) : noTokens;
      const lowCount = outcome.code === "ok" ? lowCountOf(sent.result, prompt) : null;
      if (lowCount) {
        onLowCount?.(lowCount);
        onLowCount = undefined;
      }
      const call: JudgeCall = {
        ...{ kind, provider, model, promptVersion, mode },
        state: outcome.code as JudgeCall["state"],
        reason: outcome.code === "ok" ? null : reasonText(outcome.detail),
        ...{ startedAt, ms, tokensEstimated },
        inputTokens: inputTokens + tokens.inputTokens + learning.inputTokens,
        outputTokens: outputTokens + tokens.outputTokens + learning.outputTokens,
        ...{ instructions: prompt.instructions, material: prompt.material, answer: text },
      };
      return { ...outcome, call, ...(isAlone ? { alone: true } : {}) };
    },
  };
}

type Tokens = Pick<CallResult, "inputTokens" | "outputTokens">;

const noTokens: Tokens = { inputTokens: 0, outputTokens: 0 };

function isRateLimit({ code, data }: JudgeReason): boolean {
  return code === "judge_http_error" && (data as { status: number }).status === 429;
}

/** For callers outside the pipeline: waits for a turn, makes the call and ends the turn. */
export async function callBounded<T>(
  client: JudgeClient,
  request: JudgeRequest<T>,
  asking: Asking = {},
): Promise<JudgeReply<T>> {
  const turn = await client.enter(request, asking);
  if ("code" in turn) return { ...turn, call: null };
  const reply = await client.call(request, asking.signal);
  turn.end(reply);
  return reply;
}

export function routeRequest(ask: RouteAsk): JudgeRequest<RouteLabels> {
  const { posed, ...prompt } = routingPrompt(ask, newMarker());
  const read = (answer: GivenAnswer) => readLabels(answer, posed, prompt.echo);
  return { kind: "route", prompt, items: posed.size, read };
}

/** `vote` counts from 1. */
export function semanticRequest(ask: SemanticAsk, vote = 1): JudgeRequest<Verdicts> {
  const { posed, sign, ...prompt } = semanticPrompt(ask, newMarker());
  const { echo } = prompt;
  return {
    kind: "semantic",
    prompt,
    items: posed.size,
    read: answer => readVerdicts(answer, posed, { echo, sign }),
    ...(vote > 1 ? { varied: true } : {}),
  };
}

/** The question whose answer is known. */
export function ownRequest(): JudgeRequest<Verdicts> {
  return semanticRequest(knownQuestion);
}

export function classifyRequest(ask: ClassifyAsk): JudgeRequest<Classes> {
  const { posed, ...prompt } = classifyPrompt(ask, newMarker());
  const read = (answer: GivenAnswer) => readClasses(answer, posed, prompt.echo);
  return { kind: "classify", prompt, items: posed.size, read };
}

/** 24 hex digits, unguessable and new for each call. */
function newMarker(): string {
  return randomBytes(12).toString("hex");
}
