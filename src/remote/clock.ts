// Time and randomness as arguments, so that delays can be tested without waiting.
import { setTimeout as wait } from "node:timers/promises";

/** `sleep` and `timeout` are in milliseconds; `sleep` rejects when aborted. */
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
