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
import { reasonText } from "../../model/run/reason-text.ts";
import { Semaphore } from "../../threads/semaphore.ts";
import type { SemaphoreLike } from "../../threads/shared-semaphore.ts";
import { type Clock, systemClock } from "../clock.ts";
import { answerSchemas, type GivenAnswer, readClasses, readLabels, readVerdicts } from "./answers.ts";
import { type Asking, createBounds, type Turn } from "./bounds.ts";
import { type CallResult, createModelCaller } from "./call.ts";
import { knownQuestion } from "./known-question.ts";
import type { PromptFormat } from "./models.ts";
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

/** What one call asks. `items`: how many labels, verdicts or classes; `read` checks the text of the answer. */
export type JudgeRequest<T> = {
  kind: JudgeCall["kind"];
  prompt: Prompt;
  items: number;
  read: (answer: GivenAnswer) => JudgeOutcome<T>;
};

/** `call` is null if none was made. */
export type JudgeReply<T> = { call: JudgeCall | null } & JudgeOutcome<T>;

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
  /** Whether the model takes a system role, as far as that is known. */
  systemRole?: boolean;
  /** Called when another mode than the known one worked, or a prompt without a system role. */
  onMode?: (mode: JudgeMode, systemRole: boolean) => void;
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
  let { mode: known = null, systemRole: knownRole = true } = options;
  const callModel = createModelCaller(connection, {
    mode: known,
    systemRole: knownRole,
    now: clock.now,
    ...(fetch ? { fetch } : {}),
  });
  const bounds = createBounds(connection, semaphore, clock, log);

  function learn({ mode, systemRole }: PromptFormat): void {
    if (mode === known && systemRole === knownRole) return;
    if (mode !== known && mode !== "json_schema") {
      log.info({ provider, model, mode }, "The judge needs a weaker output mode");
    }
    if (!systemRole && knownRole) log.info({ provider, model }, "The judge takes no system role");
    known = mode;
    knownRole = systemRole;
    onMode?.(mode, systemRole);
  }

  /** Makes one call, whatever the bounds. */
  async function send<T>(
    { kind, prompt, read }: JudgeRequest<T>,
    signal?: AbortSignal,
  ): Promise<{ result: CallResult; outcome: JudgeOutcome<T> }> {
    const signals = [clock.timeout(timeoutMs), ...(signal ? [signal] : [])];
    const result = await callModel(prompt, answerSchemas[kind], AbortSignal.any(signals));
    const { text, failure, inputTokens, tokensEstimated } = result;
    if (text === null && signal?.aborted) return { result, outcome: cancelled };
    const tokens = { counted: tokensEstimated ? 0 : inputTokens, estimated: tokensOf(prompt) };
    return { result, outcome: failure ?? read({ text: text!, tokens }) };
  }

  /** Of a call to a shared judge: what befell this question alone concerns no other. `tokens`: what finding out cost. */
  async function concerning<T>(
    outcome: JudgeOutcome<T>,
    signal?: AbortSignal,
  ): Promise<{ outcome: JudgeOutcome<T>; tokens: Pick<CallResult, "inputTokens" | "outputTokens"> }> {
    const isRefused = outcome.code === "refused";
    const mayStopAll = outcome.code === "later" && outcome.retryAt === null && bounds.atLastFailure;
    if (!shared || !(isRefused || mayStopAll)) return { outcome, tokens: noTokens };
    const { result: tokens, outcome: known } = await send(semanticRequest(knownQuestion), signal);
    const answers = known.code === "ok" || known.code === "unusable";
    if (!isRefused) {
      if (answers) bounds.forgive();
      return { outcome, tokens };
    }
    if (known.code === "later" || known.code === "aborted") return { outcome: known, tokens };
    if (!answers) return { outcome, tokens };
    const { status } = outcome.detail.data as { status: number };
    return { outcome: unanswered("unusable", { code: "judge_request_rejected", data: { status } }), tokens };
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
      const { outcome, tokens } = await concerning(sent.outcome, signal);
      if (outcome.code === "ok" && sent.result.isKnown) learn(sent.result);
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
        inputTokens: inputTokens + tokens.inputTokens,
        outputTokens: outputTokens + tokens.outputTokens,
        ...{ instructions: prompt.instructions, material: prompt.material, answer: text },
      };
      return { ...outcome, call };
    },
  };
}

const noTokens = { inputTokens: 0, outputTokens: 0 };

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

export function semanticRequest(ask: SemanticAsk): JudgeRequest<Verdicts> {
  const { posed, sign, ...prompt } = semanticPrompt(ask, newMarker());
  const { echo } = prompt;
  return {
    kind: "semantic",
    prompt,
    items: posed.size,
    read: answer => readVerdicts(answer, posed, { echo, sign }),
  };
}

export function classifyRequest(ask: ClassifyAsk): JudgeRequest<Classes> {
  const prompt = classifyPrompt(ask, newMarker());
  const ids = ask.criteria.map(({ id }) => id);
  return {
    kind: "classify",
    prompt,
    items: ids.length,
    read: answer => readClasses(answer, ids, prompt.echo),
  };
}

/** 24 hex digits, unguessable and new for each call. */
function newMarker(): string {
  return randomBytes(12).toString("hex");
}
