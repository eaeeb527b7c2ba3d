// Rate limit for trials (test messages, judge tests, dry runs): concurrent and per minute, for each account.
import { Refusal } from "../model/refusal.ts";

export const trialsPerMinute = 20;

/** Runs `work`. Throws RATE_LIMITED if the account has reached a limit. */
export type Trials = <T>(accountId: string, work: () => Promise<T>) => Promise<T>;

type TrialBounds = {
  /** The message if too many trials are running. */
  busy: string;
  concurrentMax?: number;
  perMinuteMax?: number;
  /** What is counted, for the message. */
  what?: string;
  /** Monotonic milliseconds. */
  now?: (() => number) | undefined;
};

export function limitTrials({
  busy,
  concurrentMax = 1,
  perMinuteMax = trialsPerMinute,
  what = "tests",
  now = () => performance.now(),
}: TrialBounds): Trials {
  const running = new Map<string, number>();
  const recent = new Map<string, number[]>();
  return async (accountId, work) => {
    const count = running.get(accountId) ?? 0;
    if (count >= concurrentMax) throw new Refusal("RATE_LIMITED", { message: busy, retryAfterSeconds: 1 });
    const time = now();
    for (const [id, times] of recent) if (times.at(-1)! <= time - 60_000) recent.delete(id);
    const times = (recent.get(accountId) ?? []).filter(one => one > time - 60_000);
    if (times.length >= perMinuteMax) {
      const retryAfterSeconds = Math.ceil((times[0]! + 60_000 - time) / 1_000);
      throw new Refusal("RATE_LIMITED", {
        message: `Limit: ${perMinuteMax} ${what} per minute.`,
        hint: `Try again in ${retryAfterSeconds} s.`,
        retryAfterSeconds,
      });
    }
    recent.set(accountId, [...times, time]);
    running.set(accountId, count + 1);
    try {
      return await work();
    } finally {
      const left = running.get(accountId)! - 1;
      if (left > 0) running.set(accountId, left);
      else running.delete(accountId);
    }
  };
}
