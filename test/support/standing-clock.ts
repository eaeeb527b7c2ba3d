// Time that passes only by waiting or by being told to, and timeouts that come when they are told to.
import type { Clock } from "../../src/remote/clock.ts";

export type StandingClock = {
  clock: Clock;
  /** In ms, in the order in which they began; each ended at once. */
  waits: number[];
  timeouts: { ms: number; controller: AbortController }[];
  pass(ms: number): void;
  /** The latest timeout comes. */
  expire(): void;
};

export function standingClock(): StandingClock {
  let time = Date.UTC(2026, 0, 1);
  const waits: number[] = [];
  const timeouts: StandingClock["timeouts"] = [];
  return {
    clock: {
      now: () => time,
      sleep: async (ms, signal) => {
        signal?.throwIfAborted();
        waits.push(ms);
        time += ms;
      },
      timeout: ms => {
        const controller = new AbortController();
        timeouts.push({ ms, controller });
        return controller.signal;
      },
      random: () => 0.5,
    },
    waits,
    timeouts,
    pass: ms => {
      time += ms;
    },
    expire: () => {
      const { ms, controller } = timeouts.at(-1)!;
      time += ms;
      controller.abort(new DOMException("The operation timed out.", "TimeoutError"));
    },
  };
}
