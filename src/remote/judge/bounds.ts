// Limits on the calls to one judge: concurrency and tokens per minute, at which accounts take turns, and a circuit breaker
// after repeated failures.
import type { Logger } from "pino";
import type { JudgeCall, JudgeConnection } from "../../model/judge/call.ts";
import { cancelled, type JudgeOutcome, type Unanswered, unanswered } from "../../model/judge/outcome.ts";
import type { JudgeReason } from "../../model/judge/reason.ts";
import { reasonText } from "../../model/run/reason-text.ts";
import type { Owners } from "../../threads/fair-queue.ts";
import type { Pause, SemaphoreLike } from "../../threads/shared-semaphore.ts";
import type { Clock } from "../clock.ts";

export const judgeLimits = {
  /** Failed calls in a row after which calls are suspended for `suspendedMs`. */
  failuresMax: 5,
  /** Doubled each time that the first call afterwards fails too, up to `suspendedMaxMs`. */
  suspendedMs: 10_000,
  suspendedMaxMs: 120_000,
  /** A call that would wait longer for the tokens-per-minute limit is told to retry later. */
  tokenWaitMaxMs: 10_000,
  /** Of an account with other calls under way: the rest is left for the first call of others. */
  tokenWaitBusyMaxMs: 5_000,
};

/** Must be ended, without a reply if no call was made. */
export type Turn = { end(reply?: JudgeOutcome<unknown> & { call: JudgeCall | null; alone?: true }): void };

/** `owners`: whose call it is, among those that share the judge. */
export type Asking = { owners?: Owners; signal?: AbortSignal | undefined };

export type Bounds = {
  /** How many calls of the account wait. */
  queued(accountId: string): number;
  /** A turn for a call of about this many tokens. Accounts take turns, and so do the agents of each. */
  enter(tokens: number, asking: Asking): Promise<Turn | Unanswered>;
  /** Whether calls are suspended if the call that is under way fails. */
  readonly atLastFailure: boolean;
};

export function createBounds(
  { tokensPerMinute }: Pick<JudgeConnection, "tokensPerMinute">,
  semaphore: SemaphoreLike,
  clock: Clock,
  log: Pick<Logger, "info" | "warn">,
): Bounds {
  const tokens = tokensPerMinute === null ? undefined : new TokenBucket(tokensPerMinute, clock);
  const breaker = new CircuitBreaker(clock, log);
  let refusals = 0;
  let refusal: Unanswered | undefined;

  const waiting = new Counts();
  const underWay = new Counts();

  /** Takes the tokens, once they are available. */
  async function reserve(
    estimate: number,
    waitMaxMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Unanswered | undefined> {
    if (!tokens) return undefined;
    const waitMs = tokens.waitMs(estimate);
    if (waitMs > waitMaxMs) {
      return unanswered("later", { code: "judge_rate_limited", data: {} }, clock.now() + waitMs);
    }
    tokens.take(estimate);
    if (waitMs === 0) return undefined;
    try {
      await clock.sleep(waitMs, signal);
      return undefined;
    } catch {
      tokens.take(-estimate);
      return cancelled;
    }
  }

  return {
    queued: accountId => waiting.of(accountId),
    get atLastFailure() {
      return breaker.atLastFailure;
    },
    async enter(estimate, asking) {
      const suspended = breaker.suspended();
      if (suspended) return suspended;
      const accountId = asking.owners?.[0] ?? "";
      const before = refusals;
      waiting.add(accountId, 1);
      const permit = await semaphore.acquire(asking);
      waiting.add(accountId, -1);
      if (!permit) return cancelled;
      if (semaphore.pause) breaker.pause(semaphore.pause);
      const { tokenWaitMaxMs, tokenWaitBusyMaxMs } = judgeLimits;
      const waitMaxMs = underWay.of(accountId) > 0 ? tokenWaitBusyMaxMs : tokenWaitMaxMs;
      underWay.add(accountId, 1);
      const release = () => {
        underWay.add(accountId, -1);
        permit();
      };
      // Calls that waited while another was refused would be refused as well.
      const denied = refusals > before ? refusal : await reserve(estimate, waitMaxMs, asking.signal);
      const end = denied ?? breaker.begin();
      if (typeof end !== "function") {
        if (!denied) tokens?.take(-estimate);
        release();
        return end;
      }
      return {
        end(reply) {
          const { inputTokens = 0, outputTokens = 0, tokensEstimated = false } = reply?.call ?? {};
          const used = tokensEstimated ? 0 : inputTokens + outputTokens;
          // If the usage of an answer is unknown, the estimate stands.
          if (!reply || used > 0 || reply.code === "later") tokens?.take(used - estimate);
          if (reply?.code === "refused") {
            refusals += 1;
            refusal = unanswered("refused", reply.detail);
          }
          end(reply?.alone ? answered : reply);
          if (reply?.code === "later" && reply.retryAt !== null && !reply.alone)
            semaphore.sharePause?.({ until: reply.retryAt, because: reply.detail });
          release();
        },
      };
    },
  };
}

/** What a question that the judge failed at alone says of it. */
const answered: JudgeOutcome<null> = { code: "ok", value: null };

/** How many calls each account has. */
class Counts {
  readonly #counts = new Map<string, number>();

  of(accountId: string): number {
    return this.#counts.get(accountId) ?? 0;
  }

  add(accountId: string, more: 1 | -1): void {
    const count = this.of(accountId) + more;
    if (count > 0) this.#counts.set(accountId, count);
    else this.#counts.delete(accountId);
  }
}

/** Refills evenly. May be overdrawn; the next call then waits for the refill. */
class TokenBucket {
  readonly #perMinute: number;
  readonly #clock: Pick<Clock, "now">;
  #level: number;
  #at: number;

  constructor(perMinute: number, clock: Pick<Clock, "now">) {
    this.#perMinute = perMinute;
    this.#clock = clock;
    this.#level = perMinute;
    this.#at = clock.now();
  }

  /** How long until this many are available; for more than the bucket holds, until it is full. */
  waitMs(tokens: number): number {
    this.take(0);
    const lacking = Math.min(tokens, this.#perMinute) - this.#level;
    return lacking <= 0 ? 0 : Math.ceil((lacking * 60_000) / this.#perMinute);
  }

  take(tokens: number): void {
    const now = this.#clock.now();
    const refilled = this.#level + ((now - this.#at) * this.#perMinute) / 60_000;
    this.#level = Math.min(this.#perMinute, Math.min(this.#perMinute, refilled) - tokens);
    this.#at = now;
  }
}

/** Once the suspension is over, one call is let through; its outcome decides for all. */
class CircuitBreaker {
  readonly #clock: Pick<Clock, "now">;
  readonly #log: Pick<Logger, "info" | "warn">;
  #failures = 0;
  #because: JudgeReason | null = null;
  #until = 0;
  #probing = false;

  constructor(clock: Pick<Clock, "now">, log: Pick<Logger, "info" | "warn">) {
    this.#clock = clock;
    this.#log = log;
  }

  suspended(): Unanswered | undefined {
    const now = this.#clock.now();
    if (this.#until <= now && !this.#probing) return undefined;
    const detail = { code: "judge_suspended", data: { because: this.#because } } as const;
    return unanswered("later", detail, this.#until > now ? this.#until : now + 1_000);
  }

  /** Returns a function to call with the outcome, or without one if no call was made. */
  begin(): ((outcome?: JudgeOutcome<unknown>) => void) | Unanswered {
    const suspended = this.suspended();
    if (suspended) return suspended;
    const isProbe = this.#isOpen();
    if (isProbe) this.#probing = true;
    return outcome => {
      if (isProbe) this.#probing = false;
      if (outcome) this.#learn(outcome, isProbe);
    };
  }

  /** Of another thread. */
  pause({ until, because }: Pause): void {
    if (until <= this.#until) return;
    this.#until = until;
    this.#because = because;
  }

  get atLastFailure(): boolean {
    return this.#failures >= judgeLimits.failuresMax - 1;
  }

  #isOpen(): boolean {
    return this.#failures >= judgeLimits.failuresMax;
  }

  #learn(outcome: JudgeOutcome<unknown>, isProbe: boolean): void {
    if (outcome.code === "ok" || outcome.code === "unusable") {
      if (this.#isOpen()) this.#log.info({}, "The judge answers again");
      this.#failures = 0;
      this.#until = 0;
    }
    if (outcome.code !== "later") return;
    // A Retry-After of one call holds for all that share the key.
    this.#until = Math.max(this.#until, outcome.retryAt ?? 0);
    // Of many calls in flight when the judge went down, those that fail after the first few add nothing.
    if (this.#isOpen() && !isProbe) return;
    this.#failures += 1;
    this.#because = outcome.detail;
    const beyond = this.#failures - judgeLimits.failuresMax;
    if (beyond < 0) return;
    const ms = Math.min(judgeLimits.suspendedMaxMs, judgeLimits.suspendedMs * 2 ** beyond);
    this.#until = Math.max(this.#until, this.#clock.now() + ms);
    if (beyond === 0) {
      this.#log.warn(
        { failures: this.#failures, reason: reasonText(outcome.detail) },
        "Judge calls are suspended",
      );
    }
  }
}
