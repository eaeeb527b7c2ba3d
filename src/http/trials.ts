// Bounds what an account may have tried out elsewhere: one thing at a time, and so many within a minute.
import { Refusal } from "../model/refusal.ts";

/** Of an account, within a minute. */
export const trialsPerMinute = 20;

/** Runs `work` where the account may have it. Throws RATE_LIMITED. */
export type Trials = <T>(accountId: string, work: () => Promise<T>) => Promise<T>;

/** `now` in milliseconds, always forward. `busy` says what is under way already. */
export function limitTrials(now: () => number, busy: string): Trials {
  const underWay = new Set<string>();
  const recent = new Map<string, number[]>();
  return async (accountId, work) => {
    if (underWay.has(accountId)) throw new Refusal("RATE_LIMITED", { message: busy, retryAfterSeconds: 1 });
    const time = now();
    for (const [id, times] of recent) if (times.at(-1)! <= time - 60_000) recent.delete(id);
    const times = (recent.get(accountId) ?? []).filter(one => one > time - 60_000);
    if (times.length >= trialsPerMinute) {
      const retryAfterSeconds = Math.ceil((times[0]! + 60_000 - time) / 1_000);
      const message = `More than ${trialsPerMinute} tests within a minute.`;
      throw new Refusal("RATE_LIMITED", {
        message,
        hint: `Go on in ${retryAfterSeconds} s.`,
        retryAfterSeconds,
      });
    }
    recent.set(accountId, [...times, time]);
    underWay.add(accountId);
    try {
      return await work();
    } finally {
      underWay.delete(accountId);
    }
  };
}
