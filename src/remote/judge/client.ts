// An open connection to a model: puts a prompt, checks what comes back, and says of every call what it was and what it took.
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import type {
  JudgeCall,
  JudgeConnection,
  JudgeLine,
  JudgeMode,
  LineReply,
  MayGo,
} from "../../model/judge/call.ts";
import { type Clock, systemClock } from "../clock.ts";
import { answerSchemas, type Read, readLabels, readVerdicts } from "./answers.ts";
import { createBounds } from "./bounds.ts";
import { type Came, createCaller } from "./call.ts";
import {
  answerTokens,
  type Prompt,
  promptVersion,
  routingPrompt,
  semanticPrompt,
  tokensOf,
} from "./prompts.ts";
import { createSlots, type Slots } from "./semaphore.ts";

export type LineOptions = {
  log: Pick<Logger, "info" | "warn">;
  /** How it is known to take the shape of an answer; null: not known yet, so that is learned. */
  mode?: JudgeMode | null;
  /** Told when a sound answer came in another mode than was known. */
  onMode?: (mode: JudgeMode) => void;
  /** In place of the global one, for addresses that somebody typed. Redirects are not followed in either case. */
  fetch?: typeof globalThis.fetch;
  /** In place of its own, as many as the connection allows. */
  slots?: Slots;
  clock?: Clock;
  /** 24 hex digits, unguessable and new each time. */
  marker?: () => string;
};

export function openLine(connection: JudgeConnection, options: LineOptions): JudgeLine {
  const { log, onMode, clock = systemClock, marker = newMarker } = options;
  const { slots = createSlots(connection.concurrency) } = options;
  const { provider, model, timeoutMs } = connection;
  let known = options.mode ?? null;
  const call = createCaller(connection, {
    mode: known,
    now: clock.now,
    ...(options.fetch ? { fetch: options.fetch } : {}),
  });
  const bounds = createBounds(connection, slots, clock, log);

  function learn(mode: JudgeMode): void {
    if (mode === known) return;
    if (mode !== "json_schema")
      log.info({ provider, model, mode }, "The judge takes the shape of answers this way");
    known = mode;
    onMode?.(mode);
  }

  async function put<T>(
    { kind, prompt, items, read }: Putting<T>,
    asker?: AbortSignal,
    mayGo?: MayGo,
  ): Promise<LineReply<T>> {
    const turn = await bounds.enter(tokensOf(prompt) + items * answerTokens[kind], asker, mayGo);
    if (turn.state !== "go") return { ...turn, call: null };
    const startedAt = clock.now();
    const signals = [clock.timeout(timeoutMs), ...(asker ? [asker] : [])];
    const came = await call(prompt, answerSchemas[kind], AbortSignal.any(signals));
    const outcome = outcomeOf(came, read, asker);
    const { instructions, material } = prompt;
    const { mode, inputTokens, outputTokens } = came;
    const { state } = outcome;
    const reason = outcome.state === "ok" ? null : outcome.reason;
    const ms = clock.now() - startedAt;
    const record: JudgeCall = {
      ...{ kind, provider, model, promptVersion, mode, state, reason, startedAt, ms },
      ...{ inputTokens, outputTokens, instructions, material, answer: came.text },
    };
    turn.end({ ...outcome, reason, tokens: inputTokens + outputTokens });
    if (state === "ok") learn(mode);
    return { ...outcome, call: record };
  }

  return {
    provider,
    model,
    promptVersion,
    get queued() {
      return bounds.queued;
    },
    route(ask, asker, mayGo) {
      const prompt = routingPrompt(ask, marker());
      const ids = ask.scenarios.map(({ id }) => id);
      const read = (text: string) => readLabels(text, ids);
      return put({ kind: "route", prompt, items: ids.length, read }, asker, mayGo);
    },
    judge(ask, asker, mayGo) {
      const { posed, sign, ...prompt } = semanticPrompt(ask, marker());
      const read = (text: string) => readVerdicts(text, posed, sign);
      return put({ kind: "semantic", prompt, items: posed.size, read }, asker, mayGo);
    },
  };
}

type Putting<T> = {
  kind: JudgeCall["kind"];
  prompt: Prompt;
  /** How many labels or verdicts are asked for. */
  items: number;
  read: (text: string) => Read<T>;
};

type Outcome<T> =
  | { state: "ok"; value: T }
  | { state: "later"; reason: string; retryAfterMs?: number }
  | { state: "refused" | "unusable" | "budget" | "aborted"; reason: string };

function outcomeOf<T>(
  came: Came,
  read: (text: string) => Read<T>,
  asker: AbortSignal | undefined,
): Outcome<T> {
  if (came.state !== "answered") {
    if (asker?.aborted) return { state: "aborted", reason: "It was asked, but the question was withdrawn." };
    const { state, reason, retryAfterMs } = came;
    return state === "later" && retryAfterMs !== undefined
      ? { state, reason, retryAfterMs }
      : { state, reason };
  }
  if (came.spoiled !== undefined) return { state: "unusable", reason: came.spoiled };
  const found = read(came.text);
  return found.ok ? { state: "ok", value: found.value } : { state: "unusable", reason: found.why };
}

function newMarker(): string {
  return randomBytes(12).toString("hex");
}
