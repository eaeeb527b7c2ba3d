// A clock that advances only when a test waits or advances it, with timeouts that fire on command.
import type { Clock } from "../../src/remote/clock.ts";

export type StandingClock = {
  clock: Clock;
  /** In ms, in the order in which they started; each ends immediately. */
  waits: number[];
  timeouts: { ms: number; controller: AbortController }[];
  pass(ms: number): void;
  /** Fires the latest timeout. */
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
