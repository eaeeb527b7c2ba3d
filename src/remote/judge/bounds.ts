// How hard a judge is asked by this process: so many calls at a time, so many tokens a minute, and not at all for a while after a row of failures.
import type { Logger } from "pino";
import type { JudgeCallState, JudgeConnection, MayGo } from "../../model/judge/call.ts";
import type { Clock } from "../clock.ts";
import type { Slots } from "./semaphore.ts";

export const judgePatience = {
  /** Failed calls in a row, over all questions, after which the judge is left alone for `restMs`. */
  failuresBeforeRest: 5,
  /** Doubled with every call that is let through after it and fails too, up to `restMaxMs`. */
  restMs: 10_000,
  restMaxMs: 120_000,
  /** Who would wait longer for room within the tokens of a minute is told to come back. */
  roomMaxMs: 10_000,
};

export type Denied =
  | { state: "later"; reason: string; retryAfterMs: number }
  | { state: "refused" | "aborted"; reason: string };

/** Must be ended, however the call ended. `tokens`: those it took, 0 where that is not known. */
export type Turn = {
  state: "go";
  end(outcome: { state: JudgeCallState; reason: string | null; retryAfterMs?: number; tokens: number }): void;
};

export type Bounds = {
  readonly queued: number;
  /** A turn for a call of about so many tokens; first come, first served. */
  enter(tokens: number, asker: AbortSignal | undefined, mayGo?: MayGo): Promise<Turn | Denied>;
};

export function createBounds(
  { tokensPerMinute }: Pick<JudgeConnection, "tokensPerMinute">,
  slots: Slots,
  clock: Clock,
  log: Pick<Logger, "info" | "warn">,
): Bounds {
  const allowance = tokensPerMinute === null ? undefined : createAllowance(tokensPerMinute, clock);
  const breaker = createBreaker(clock, log);
  let refusals = 0;
  let refusal = "";

  return {
    get queued() {
      return slots.queued;
    },
    async enter(estimate, asker, mayGo) {
      const resting = breaker.rest();
      if (resting) return resting;
      const before = refusals;
      const leave = await slots.take(asker);
      if (!leave) return withdrawn;
      let denied: Denied | undefined;
      try {
        // Those that waited while another was refused would be refused as well.
        if (refusals > before) denied = { state: "refused", reason: refusal };
        else if (mayGo && !(await mayGo())) denied = withdrawn;
        else denied = await makeRoom(estimate, asker);
      } catch (error) {
        leave();
        throw error;
      }
      const turn = denied ?? breaker.begin();
      if ("state" in turn) {
        if (!denied) allowance?.take(-estimate);
        leave();
        return turn;
      }
      return {
        state: "go",
        end(outcome) {
          // Where nothing is known of what an answer took, the estimate stands.
          if (outcome.tokens > 0 || outcome.state === "later") allowance?.take(outcome.tokens - estimate);
          if (outcome.state === "refused") {
            refusals += 1;
            refusal = outcome.reason ?? "";
          }
          turn.end(outcome);
          leave();
        },
      };
    },
  };

  /** Takes the tokens, once they are there. */
  async function makeRoom(tokens: number, asker: AbortSignal | undefined): Promise<Denied | undefined> {
    if (!allowance) return undefined;
    const waitMs = allowance.waitMs(tokens);
    if (waitMs > judgePatience.roomMaxMs) {
      return { state: "later", reason: "It has had its tokens of this minute.", retryAfterMs: waitMs };
    }
    allowance.take(tokens);
    if (waitMs === 0 || (await slept(clock, waitMs, asker))) return undefined;
    allowance.take(-tokens);
    return withdrawn;
  }
}

const withdrawn = { state: "aborted", reason: "It was not asked: the question was withdrawn." } as const;

async function slept(clock: Clock, ms: number, asker: AbortSignal | undefined): Promise<boolean> {
  try {
    await clock.sleep(ms, asker);
    return true;
  } catch (error) {
    if (asker?.aborted) return false;
    throw error;
  }
}

/** Refilled evenly; may be overdrawn by whoever is let in, and is then waited for by the next. */
function createAllowance(perMinute: number, clock: Clock) {
  let level = perMinute;
  let at = clock.now();
  const refill = () => {
    level = Math.min(perMinute, level + ((clock.now() - at) * perMinute) / 60_000);
    at = clock.now();
  };
  return {
    /** How long until so many are there; of more than there can ever be at once, until all are. */
    waitMs(tokens: number): number {
      refill();
      const lacking = Math.min(tokens, perMinute) - level;
      return lacking <= 0 ? 0 : Math.ceil((lacking * 60_000) / perMinute);
    },
    take(tokens: number): void {
      refill();
      level = Math.min(perMinute, level - tokens);
    },
  };
}

type Ended = { state: JudgeCallState; reason: string | null; retryAfterMs?: number };

/** After a row of failures one call is let through once the rest is over; what comes of it decides for all. */
function createBreaker(clock: Clock, log: Pick<Logger, "info" | "warn">) {
  let failures = 0;
  let why = "";
  let restUntil = 0;
  let probing = false;
  const isOpen = () => failures >= judgePatience.failuresBeforeRest;

  function rest(): Denied | undefined {
    const reason = `${why.replace(/\.$/, "")}, and is left alone for a while.`;
    const leftMs = restUntil - clock.now();
    if (leftMs > 0) return { state: "later", reason, retryAfterMs: leftMs };
    return probing ? { state: "later", reason, retryAfterMs: 1_000 } : undefined;
  }

  function learn({ state, reason, retryAfterMs = 0 }: Ended, isProbe: boolean): void {
    if (state === "ok" || state === "unusable") {
      if (isOpen()) log.info({}, "The judge answers again");
      failures = 0;
      restUntil = 0;
    }
    if (state !== "later") return;
    // What it asks of one call it asks of all.
    restUntil = Math.max(restUntil, clock.now() + retryAfterMs);
    // Of many calls under way when it went, those that fail after the first few say nothing new.
    if (isOpen() && !isProbe) return;
    failures += 1;
    why = reason ?? "";
    const over = failures - judgePatience.failuresBeforeRest;
    const restMs = over < 0 ? 0 : Math.min(judgePatience.restMaxMs, judgePatience.restMs * 2 ** over);
    restUntil = Math.max(restUntil, clock.now() + restMs);
    if (over === 0) log.warn({ failures }, `The judge is left alone for a while. ${why}`);
  }

  return {
    rest,
    begin(): Denied | { end(outcome: Ended): void } {
      const resting = rest();
      if (resting) return resting;
      const isProbe = isOpen();
      if (isProbe) probing = true;
      return {
        end(outcome) {
          if (isProbe) probing = false;
          learn(outcome, isProbe);
        },
      };
    },
  };
}
