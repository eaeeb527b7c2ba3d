// Decides whether the judge may be called for an agent: configured, not paused, sampled, within budget, not too busy.
import { createHash } from "node:crypto";
import type { JudgeConnection } from "../model/judge/call.ts";
import type { JudgeContext } from "../model/judge/judge.ts";
import { type Unanswered, unanswered } from "../model/judge/outcome.ts";
import type { JudgeClient } from "../remote/judge/client.ts";
import { findJudgeTokensToday } from "../store/accounts/use.ts";
import { type Database, isTransient } from "../store/db.ts";
import type { AgentJudge, FoundJudge } from "../store/judge/agent-judge.ts";
import { findJudgeToday } from "../store/judge/settings.ts";
import { findJudgeState, fingerprintOf } from "../store/judge/states.ts";
import type { Connections } from "./connections.ts";

/** How the agent's judge is called. `accountTokensMax`: of the service's judge, for an account and day; null: no limit. */
export type JudgeAccess = AgentJudge & {
  judge: FoundJudge;
  client: JudgeClient;
  accountTokensMax: number | null;
};

export async function admit(agentId: string, connections: Connections): Promise<JudgeAccess | Unanswered> {
  try {
    const found = await connections.find(agentId);
    const judge = found?.judge;
    if (!found || !judge) return unanswered("not_configured", { code: "no_judge" });
    if (judge.keyUnreadable) return unanswered("refused", { code: "judge_key_unreadable" });
    const why = judge.state?.pausedReason ?? null;
    if (why !== null) return unanswered("refused", { code: "judge_paused", data: { why } });
    const accountTokensMax = judge.own ? null : connections.accountTokensMax;
    return { ...found, judge, client: connections.clientOf(judge, found.projectId), accountTokensMax };
  } catch (error) {
    if (!isTransient(error)) throw error;
    return databaseUnavailable;
  }
}

/** As `admit`, with this connection in place of the project's judge. */
export async function admitWith(
  agentId: string,
  connection: JudgeConnection,
  connections: Connections,
  db: Database,
): Promise<JudgeAccess | Unanswered> {
  try {
    const found = await connections.find(agentId);
    if (!found) return unanswered("not_configured", { code: "no_judge" });
    const fingerprint = fingerprintOf(connection, found.projectId);
    const state = await findJudgeState(db, fingerprint);
    const why = state?.pausedReason ?? null;
    if (why !== null) return unanswered("refused", { code: "judge_paused", data: { why } });
    const about = { own: true, keyUnreadable: false, version: null, tried: true as const };
    const judge = { connection, fingerprint, state, ...about };
    const client = connections.clientOf(judge, found.projectId);
    return { ...found, judge, client, accountTokensMax: null };
  } catch (error) {
    if (!isTransient(error)) throw error;
    return databaseUnavailable;
  }
}

export const databaseUnavailable = unanswered("later", { code: "judge_database_unavailable" });

/** Whether sampling leaves the trace out. Dry runs, trials and test runs are always judged. */
export function notSampled(
  { traceId, runId, chosen }: JudgeContext,
  { settings: { sampling } }: JudgeAccess,
): Unanswered | undefined {
  if (chosen || traceId === null || runId === null || sampleOf(traceId) < sampling) return undefined;
  const percent = Number((sampling * 100).toPrecision(3));
  return unanswered("not_sampled", { code: "judge_not_sampled", data: { percent } });
}

/** The same number for a trace each time, spread evenly over 0..1. */
function sampleOf(traceId: string): number {
  return createHash("sha256").update(traceId).digest().readUInt32BE() / 2 ** 32;
}

/** Whether the daily budget of the agent, or of its account, is used up. Calls in flight at the same time may exceed it. */
export async function overBudget(
  db: Database,
  agentId: string,
  { settings: { budgetUsd, budgetTokens }, accountId, accountTokensMax }: JudgeAccess,
): Promise<Unanswered | undefined> {
  if (accountTokensMax !== null && (await findJudgeTokensToday(db, accountId)) >= accountTokensMax) {
    return unanswered("budget", { code: "judge_account_budget_spent", data: { tokens: accountTokensMax } });
  }
  if (budgetUsd === null && budgetTokens === null) return undefined;
  const { costUsd, inputTokens, outputTokens } = await findJudgeToday(db, agentId);
  const spent =
    budgetUsd !== null && costUsd >= budgetUsd
      ? { usd: budgetUsd }
      : budgetTokens !== null && inputTokens + outputTokens >= budgetTokens && { tokens: budgetTokens };
  return spent ? unanswered("budget", { code: "judge_budget_spent", data: spent }) : undefined;
}

/** The account's queue is full: background runs retry later. Interactive requests are let through. */
export function tooBusy(
  { deadlineAt }: JudgeContext,
  { accountId, client, judge }: JudgeAccess,
): Unanswered | undefined {
  const isFull = client.queued(accountId) > Math.max(16, 4 * judge.connection.concurrency);
  return isFull && deadlineAt !== null ? unanswered("later", { code: "judge_busy" }) : undefined;
}
