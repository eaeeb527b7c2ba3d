// Rate limit for trials (test messages, judge tests, dry runs) of each account: concurrent ones in this process, and per
// minute for all nodes together.
import { Refusal } from "../model/refusal.ts";
import { countAttempt } from "../store/accounts/attempts.ts";
import type { Database } from "../store/db.ts";

export const trialsPerMinute = 20;

/** Runs `work`. Throws RATE_LIMITED if the account has reached a limit. */
export type Trials = <T>(accountId: string, work: () => Promise<T>) => Promise<T>;

type TrialBounds = {
  /** What is counted in the database; not shared with other limits. */
  kind: string;
  /** The message if too many trials are running. */
  busy: string;
  concurrentMax?: number;
  perMinuteMax?: number;
  /** What is counted, for the message. */
  what?: string;
};

export function limitTrials(
  db: Database,
  { kind, busy, concurrentMax = 1, perMinuteMax = trialsPerMinute, what = "tests" }: TrialBounds,
): Trials {
  const running = new Map<string, number>();
  return async (accountId, work) => {
    const count = running.get(accountId) ?? 0;
    if (count >= concurrentMax) throw new Refusal("RATE_LIMITED", { message: busy, retryAfterSeconds: 1 });
    running.set(accountId, count + 1);
    try {
      const minute = await countAttempt(db, {
        kind: `trials: ${kind}`,
        subject: [accountId],
        windowSeconds: 60,
      });
      if (minute.count > perMinuteMax) {
        throw new Refusal("RATE_LIMITED", {
          message: `Limit: ${perMinuteMax} ${what} per minute.`,
          hint: `Try again in ${minute.endsInSeconds} s.`,
          retryAfterSeconds: minute.endsInSeconds,
        });
      }
      return await work();
    } finally {
      const left = running.get(accountId)! - 1;
      if (left > 0) running.set(accountId, left);
      else running.delete(accountId);
    }
  };
}
