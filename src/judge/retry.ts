// Decides when a question is asked again: exponential backoff with jitter, within the deadline of the run.

import type { JudgeContext } from "../model/judge/judge.ts";
import { type Unanswered, unanswered, wasCalled } from "../model/judge/outcome.ts";
import type { JudgeReason, JudgeReasonCode } from "../model/judge/reason.ts";
import type { Clock } from "../remote/clock.ts";

export const backoff = { firstMs: 2_000, maxMs: 120_000, busyMs: 1_000, busyMaxMs: 15_000 };

/** Adds `retryAt` if a retry may succeed and comes before the deadline; otherwise adds the number of tries. */
export function withRetry(
  outcome: Unanswered,
  context: JudgeContext,
  clock: Pick<Clock, "now" | "random">,
): Unanswered {
  if (outcome.code !== "later") return outcome;
  const { detail, retryAt } = outcome;
  const { deadlineAt, tries } = context;
  const now = clock.now();
  const called = wasCalled(detail);
  const asked = retryAt !== null && retryAt > now ? retryAt + (clock.random() * backoff.firstMs) / 2 : now;
  const next = Math.max(asked, now + pauseMs(called, context, clock));
  if (deadlineAt !== null && next < deadlineAt) return { ...outcome, retryAt: next };
  return unanswered("later", withTries(detail, tries + (called ? 1 : 0)));
}

/**
 * Doubles with each failed call; jitter keeps many runs from retrying together. Without a call the pause grows with
 * the time waited: each try loads a trace, and a thousand runs trying every second would cost more than judging does.
 * The last try comes shortly before the deadline.
 */
function pauseMs(
  called: boolean,
  { deadlineAt, tries, waitedMs = 0 }: JudgeContext,
  clock: Pick<Clock, "now" | "random">,
): number {
  const { firstMs, maxMs, busyMs, busyMaxMs } = backoff;
  const plain = called
    ? Math.min(maxMs, firstMs * 2 ** tries)
    : Math.min(busyMaxMs, Math.max(busyMs, waitedMs / 4));
  const ms = plain * (0.75 + clock.random() / 2);
  const lastMs = deadlineAt === null ? 0 : deadlineAt - clock.now() - busyMs;
  return lastMs >= busyMs ? Math.min(ms, lastMs) : ms;
}

const counted: JudgeReasonCode[] = [
  "judge_rate_limited",
  "judge_suspended",
  "judge_unreachable",
  "judge_broken_off",
  "judge_timeout",
  "judge_cut_off",
  "judge_http_error",
  "judge_quota_exceeded",
  "judge_gateway_budget_exceeded",
];

function withTries(detail: JudgeReason, tries: number): JudgeReason {
  if (tries < 2 || !counted.includes(detail.code)) return detail;
  return { ...detail, data: { ...detail.data, tries } } as JudgeReason;
}
