// Rate limit for trials (test messages, judge tests, dry runs) of each account: concurrent ones on this machine, and per
// minute for all nodes together.
import { Refusal } from "../../model/refusal.ts";
import { countAttempt } from "../../store/accounts/attempts.ts";
import type { Deps } from "./deps.ts";
import { onlyProcess } from "./machine.ts";

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
  { db, machine = onlyProcess() }: Pick<Deps, "db" | "machine">,
  { kind, busy, concurrentMax = 1, perMinuteMax = trialsPerMinute, what = "tests" }: TrialBounds,
): Trials {
  return async (accountId, work) => {
    const running = { name: `trials: ${kind}, ${accountId}`, count: concurrentMax, shares: [], holders: [] };
    const release = await machine.permits.take(running, { timeoutMs: 0 });
    if (typeof release === "string") {
      throw new Refusal("RATE_LIMITED", { message: busy, retryAfterSeconds: 1 });
    }
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
      release();
    }
  };
}
