// Why a question has no answer, and what is told of it: to be asked again later, or not judged at all.

import type { LineReply } from "../model/judge/call.ts";
import type { JudgeContext, Unjudged } from "../model/judge/judge.ts";
import type { Clock } from "../remote/clock.ts";

type Unanswered = Exclude<LineReply<never>, { state: "ok" }>;

/**
 * What kept a question from being answered. "paused", "spent" and "busy" are ours: the connection is not to be asked,
 * the agent's budget is used up, or there was no room or no database to ask by. `reason` is a sentence; that of a call
 * begins with "It" and is about the judge.
 */
export type Fault =
  /** `unasked`: no call was made. */
  | { state: "later"; reason: string; retryAfterMs?: number; unasked?: true }
  | { state: Exclude<Unanswered["state"], "later"> | "paused" | "spent" | "busy"; reason: string };

/** Without its call. */
export function faultOf(reply: Unanswered): Fault {
  if (reply.state !== "later") return { state: reply.state, reason: reply.reason };
  const { state, reason, retryAfterMs, call } = reply;
  return {
    state,
    reason,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(call === null ? { unasked: true } : {}),
  };
}

/** The one to tell where a question met several: what no waiting mends comes first. */
export function gravest(faults: Fault[]): Fault | undefined {
  return faults.find(({ state }) => state !== "later" && state !== "busy") ?? faults[0];
}

export const backoff = { firstMs: 2_000, maxMs: 120_000, busyMs: 1_000, busyMaxMs: 15_000 };

/** Waiting is worth it only for one who waits, and only where the next try comes before the deadline. */
export function unjudgedBy(
  fault: Fault,
  context: JudgeContext,
  clock: Pick<Clock, "now" | "random">,
): Unjudged {
  const { reason } = fault;
  switch (fault.state) {
    case "later": {
      const { unasked, retryAfterMs = 0 } = fault;
      const askedMs = retryAfterMs > 0 ? retryAfterMs + (clock.random() * backoff.firstMs) / 2 : 0;
      const ours = unasked ? busyPauseMs(context, clock) : pauseMs(context, clock);
      const nextTryAt = clock.now() + Math.max(askedMs, ours);
      if (isInTime(nextTryAt, context)) {
        return { state: "waiting", reason: aboutJudge(reason), nextTryAt, ...(unasked ? { unasked } : {}) };
      }
      const count = context.tries + (unasked ? 0 : 1);
      const tries = count > 1 ? `, ${count} tries` : "";
      return { state: "unavailable", reason: `The judge is unavailable: ${said(reason)}${tries}.` };
    }
    case "busy": {
      const nextTryAt = clock.now() + busyPauseMs(context, clock);
      if (isInTime(nextTryAt, context)) return { state: "waiting", reason, nextTryAt, unasked: true };
      return { state: "unavailable", reason };
    }
    case "refused":
      return { state: "unavailable", reason: `The judge is unavailable: ${said(reason)}.` };
    case "paused":
      return { state: "unavailable", reason };
    case "aborted":
      return { state: "unavailable", reason: "The question to the judge was withdrawn." };
    case "unusable":
      return { state: "unusable", reason: `The judge's answer cannot be relied on: ${said(reason)}.` };
    case "budget":
      return { state: "budget", reason: aboutJudge(reason) };
    case "spent":
      return { state: "budget", reason };
  }
}

/**
 * For one who was not let ask. The longer it has waited already, the longer: to look for a place means to load a trace,
 * and a thousand that looked every second would take more than the judging does.
 */
export function busyPauseMs(context: JudgeContext, clock: Pick<Clock, "now" | "random">): number {
  const { waitedMs = 0 } = context;
  const ms = Math.min(backoff.busyMaxMs, Math.max(backoff.busyMs, waitedMs / 4)) * jitter(clock);
  return withinDeadline(ms, context, clock);
}

/** For one who asked in vain; chance keeps many from coming back at once. */
function pauseMs(context: JudgeContext, clock: Pick<Clock, "now" | "random">): number {
  const ms = Math.min(backoff.maxMs, backoff.firstMs * 2 ** context.tries) * jitter(clock);
  return withinDeadline(ms, context, clock);
}

/** What is left of the time is used: the last try comes shortly before the deadline. */
function withinDeadline(ms: number, { deadlineAt }: JudgeContext, clock: Pick<Clock, "now">): number {
  if (deadlineAt === null) return ms;
  const lastMs = deadlineAt - clock.now() - backoff.busyMs;
  return lastMs >= backoff.busyMs ? Math.min(ms, lastMs) : ms;
}

function isInTime(nextTryAt: number, { deadlineAt }: JudgeContext): boolean {
  return deadlineAt !== null && nextTryAt < deadlineAt;
}

/** 0.75 to 1.25. */
function jitter(clock: Pick<Clock, "random">): number {
  return 0.75 + clock.random() / 2;
}

function aboutJudge(reason: string): string {
  return reason.replace(/^It\b/, "The judge");
}

/** To stand after a colon. */
function said(reason: string): string {
  return reason.replace(/^It\b/, "it").replace(/\.$/, "");
}
