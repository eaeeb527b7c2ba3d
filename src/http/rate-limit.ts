// Bounds what an account may have tried out by the service: so many things at once, and so many within a minute.
import { Refusal } from "../model/refusal.ts";

export const trialsPerMinute = 20;

/** Runs `work` where the account may have it. Throws RATE_LIMITED. */
export type Trials = <T>(accountId: string, work: () => Promise<T>) => Promise<T>;

type TrialBounds = {
  /** Says what is under way already. */
  busy: string;
  atOnceMax?: number;
  perMinuteMax?: number;
  /** Milliseconds, always forward. */
  now?: (() => number) | undefined;
};

export function limitTrials({
  busy,
  atOnceMax = 1,
  perMinuteMax = trialsPerMinute,
  now = () => performance.now(),
}: TrialBounds): Trials {
  const underWay = new Map<string, number>();
  const recent = new Map<string, number[]>();
  return async (accountId, work) => {
    const running = underWay.get(accountId) ?? 0;
    if (running >= atOnceMax) throw new Refusal("RATE_LIMITED", { message: busy, retryAfterSeconds: 1 });
    const time = now();
    for (const [id, times] of recent) if (times.at(-1)! <= time - 60_000) recent.delete(id);
    const times = (recent.get(accountId) ?? []).filter(one => one > time - 60_000);
    if (times.length >= perMinuteMax) {
      const retryAfterSeconds = Math.ceil((times[0]! + 60_000 - time) / 1_000);
      throw new Refusal("RATE_LIMITED", {
        message: `Limit: ${perMinuteMax} tests per minute.`,
        hint: `Try again in ${retryAfterSeconds} s.`,
        retryAfterSeconds,
      });
    }
    recent.set(accountId, [...times, time]);
    underWay.set(accountId, running + 1);
    try {
      return await work();
    } finally {
      const left = underWay.get(accountId)! - 1;
      if (left > 0) underWay.set(accountId, left);
      else underWay.delete(accountId);
    }
  };
}
