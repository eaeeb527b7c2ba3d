// How long and how hard the judge is asked: a bounded number of calls at a time, a few tries, and a pause after a row of failures.
import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import type { JudgeConfig } from "../config.ts";
import type { Unanswered, Unavailable } from "./judge-call.ts";

/** Time and chance, as an argument. `sleep` and `timeout` are in milliseconds; `sleep` rejects when aborted. */
export type Clock = {
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<unknown>;
  timeout(ms: number): AbortSignal;
  random(): number;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => wait(ms, undefined, { signal }),
  timeout: ms => AbortSignal.timeout(ms),
  random: () => Math.random(),
};

export const patience = {
  /** Calls for one question, the first included. */
  tries: 3,
  /** Before the second try, doubled before the third; then shortened by up to half, by chance. */
  backoffMs: 1_000,
  /** A server that asks to wait longer than this is not waited for. */
  retryAfterMaxMs: 20_000,
  /** Failed calls in a row, over all questions, after which the judge is left alone for `pauseMs`. */
  failuresBeforePause: 5,
  pauseMs: 10_000,
};

/** What is left of a question in the end. `reason` is a sentence. */
export type Failed = { state: "unavailable" | "unusable" | "budget"; reason: string };

export type Attempt<T> = { state: "ok"; value: T } | Unanswered | Unavailable;

/** Runs a question's calls, and gives up on it at `deadlineMs` after its first began. */
export type Patience = <T>(
  attempt: (signal: AbortSignal) => Promise<Attempt<T>>,
  asker?: AbortSignal,
) => Promise<{ state: "ok"; value: T } | Failed>;

/** Time enough for two calls that time out and the longest wait between them. */
export function deadlineMs(timeoutMs: number): number {
  return 2 * timeoutMs + patience.retryAfterMaxMs;
}

/** Shares `concurrency` slots and one memory of failures among all questions put through it. */
export function createPatience(
  { timeoutMs, concurrency }: Pick<JudgeConfig, "timeoutMs" | "concurrency">,
  clock: Clock,
  log: Pick<Logger, "info" | "warn">,
): Patience {
  const slots = createSlots(concurrency);
  const breaker = createBreaker(clock, log);

  return async (attempt, asker) => {
    let deadline = Number.POSITIVE_INFINITY;
    let why = "";
    for (let tries = 1; ; tries += 1) {
      if (!(await slots.take(asker))) return withdrawn;
      let outcome: Awaited<ReturnType<typeof attempt>>;
      try {
        const paused = breaker.pausedBecause();
        if (paused !== undefined) return unavailable(`${paused}, and is not asked again for a few seconds`);
        if (tries === 1) deadline = clock.now() + deadlineMs(timeoutMs);
        const left = Math.min(timeoutMs, deadline - clock.now());
        if (left <= 0) return unavailable(why);
        const timeout = clock.timeout(left);
        outcome = await attempt(asker ? AbortSignal.any([timeout, asker]) : timeout);
      } finally {
        slots.give();
      }
      if (outcome.state !== "ok" && asker?.aborted) return withdrawn;
      if (outcome.state !== "unavailable") {
        breaker.answered();
        return outcome.state === "ok" ? outcome : failed(outcome);
      }
      breaker.failed(outcome.why);
      why = tries === 1 ? outcome.why : `${outcome.why}, ${tries} tries`;
      if (!outcome.retry || tries === patience.tries) return unavailable(why);
      const pause = pauseBefore(tries, outcome.retryAfterMs, clock);
      if (pause > patience.retryAfterMaxMs || clock.now() + pause >= deadline) return unavailable(why);
      await clock.sleep(pause, asker).catch(() => undefined);
    }
  };
}

const withdrawn: Failed = { state: "unavailable", reason: "The question to the judge was withdrawn." };

function unavailable(why: string): Failed {
  return { state: "unavailable", reason: `The judge is unavailable: ${why}.` };
}

function failed({ state, why }: Unanswered): Failed {
  return { state, reason: state === "budget" ? why : `The judge's answer is unusable: ${why}.` };
}

// Never sooner than the server asked; the chance part keeps many questions from coming back at once.
function pauseBefore(tries: number, retryAfterMs: number | undefined, clock: Clock): number {
  const backoff = patience.backoffMs * 2 ** (tries - 1) * (0.5 + clock.random() / 2);
  return retryAfterMs === undefined ? backoff : retryAfterMs + (clock.random() * patience.backoffMs) / 2;
}

function createSlots(count: number) {
  let free = count;
  const waiting = new Set<() => void>();
  return {
    /** False when the asker gave up first. */
    async take(asker?: AbortSignal): Promise<boolean> {
      if (asker?.aborted) return false;
      if (free > 0) {
        free -= 1;
        return true;
      }
      return new Promise(resolve => {
        const served = () => {
          asker?.removeEventListener("abort", gaveUp);
          resolve(true);
        };
        const gaveUp = () => {
          waiting.delete(served);
          resolve(false);
        };
        waiting.add(served);
        asker?.addEventListener("abort", gaveUp, { once: true });
      });
    },
    give(): void {
      const [next] = waiting;
      if (next === undefined) {
        free += 1;
        return;
      }
      waiting.delete(next);
      next();
    },
  };
}

// After the pause the next failure opens it again at once: the row is only broken by an answer.
function createBreaker(clock: Clock, log: Pick<Logger, "info" | "warn">) {
  let failures = 0;
  let lastWhy = "";
  let pausedUntil = 0;
  return {
    pausedBecause: () => (clock.now() < pausedUntil ? lastWhy : undefined),
    answered(): void {
      if (pausedUntil > 0) log.info({}, "The judge answers again");
      failures = 0;
      pausedUntil = 0;
    },
    failed(why: string): void {
      failures += 1;
      lastWhy = why;
      if (failures < patience.failuresBeforePause) return;
      if (pausedUntil === 0) log.warn({ failures }, `The judge is left alone for a while: ${why}`);
      pausedUntil = clock.now() + patience.pauseMs;
    },
  };
}
