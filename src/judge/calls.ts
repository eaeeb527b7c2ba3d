// Calls the judge with one batch of questions, if it may be called now, and stores the call before its answers are used.
import type { JudgeCall } from "../model/judge/call.ts";
import type { JudgeContext, Spent } from "../model/judge/judge.ts";
import { type Unanswered, unanswered } from "../model/judge/outcome.ts";
import { costOf, priceOf } from "../model/price/price.ts";
import { reasonText } from "../model/run/reason-text.ts";
import type { Clock } from "../remote/clock.ts";
import type { JudgeReply, JudgeRequest } from "../remote/judge/client.ts";
import { answerTokens, tokensOf } from "../remote/judge/prompts.ts";
import { countJudgeTokens } from "../store/accounts/use.ts";
import type { Database } from "../store/db.ts";
import { pauseJudge, saveWait } from "../store/judge/states.ts";
import { newId } from "../store/new-id.ts";
import { type JudgeAccess, overBudget, tooBusy } from "./admission.ts";
import type { Connections } from "./connections.ts";
import type { QuestionKey } from "./keys.ts";
import type { Ledger } from "./ledger.ts";
import { type Answers, type Asker, allOf, type Question, type QuestionKind } from "./question.ts";

export type CallDeps = {
  db: Database;
  clock: Pick<Clock, "now">;
  connections: Connections;
  ledger: Ledger;
  onCall: ((call: JudgeCall) => void) | undefined;
};

/** Every question of the batch gets an outcome. */
export async function callJudge<Q, V>(
  deps: CallDeps,
  kind: QuestionKind<Q, V>,
  batch: Question<Q>[],
  asker: Asker,
  signal?: AbortSignal,
): Promise<Answers<V>> {
  const { context, access } = asker;
  const denied = tooBusy(context, access) ?? (await overBudget(deps.db, context.agentId, access));
  if (denied) return allOf(batch, denied);
  const startBy = startByOf(context, deps.clock);
  // Sorted by hash, so that the order is stable and nobody can choose it.
  const questions = batch.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const request = kind.request(questions);
  if (context.cachedOnly) {
    reportEstimate(request, asker, deps.clock);
    return allOf(batch, notAsked);
  }
  const owners = [access.accountId, context.agentId] as const;
  const turn = await access.client.enter(request, { owners, signal });
  if ("code" in turn) return allOf(batch, turn);
  let reply: JudgeReply<Map<QuestionKey, V>> | undefined;
  let values = new Map<QuestionKey, V>();
  try {
    const late = await whyNoLonger(deps, asker, startBy);
    if (late) return allOf(batch, late);
    reply = await access.client.call(request, signal);
    if (reply.code === "ok") values = reply.value;
    // Before the next call may start: it must see what this one took from the budget.
    await storeCall(deps, kind, questions, values, reply.call!, asker);
  } finally {
    turn.end(reply);
  }
  await pauseOrWait(deps, reply, access);
  const { call, alone: _, ...outcome } = reply;
  if (outcome.code !== "ok") return allOf(batch, outcome);
  return new Map(
    questions.map(({ key, testIds }) => {
      const value = values.get(key);
      const spent = shareOf(call!, batch.length * testIds.length);
      return [key, value === undefined ? leftOut : { code: "ok", value, spent }];
    }),
  );
}

/** A deadline that has passed before, as after a long stop, still allows one try. */
function startByOf({ deadlineAt }: JudgeContext, clock: Pick<Clock, "now">): number {
  return deadlineAt !== null && clock.now() < deadlineAt ? deadlineAt : Number.POSITIVE_INFINITY;
}

/** The wait for a turn may have been long, and calls before this one have spent their part of the budget. */
async function whyNoLonger(
  { db, clock, connections }: CallDeps,
  { context: { agentId }, access }: Asker,
  startBy: number,
): Promise<Unanswered | undefined> {
  if (clock.now() >= startBy) return outOfTime;
  if (await connections.isReplaced(agentId, access)) return replaced;
  return overBudget(db, agentId, access);
}

/** Stores the call with its cost, and its reusable answers. */
async function storeCall<Q, V>(
  deps: CallDeps,
  kind: QuestionKind<Q, V>,
  questions: Question<Q>[],
  values: Map<QuestionKey, V>,
  call: JudgeCall,
  { context, access: { accountId, projectId, prices, accountTokensMax }, onCall }: Asker,
): Promise<void> {
  const { agentId, traceId, runId } = context;
  deps.onCall?.(call);
  const price = priceOf(prices, call, new Date(call.startedAt).toISOString().slice(0, 10));
  const costUsd = price ? costOf(price, call) : null;
  onCall?.(call, costUsd);
  const { inputTokens, outputTokens } = call;
  context.onCall?.({ kind: call.kind, inputTokens, outputTokens, costUsd });
  const shares = new Map<string, number>();
  for (const { testIds } of questions) {
    for (const id of testIds) {
      shares.set(id, (shares.get(id) ?? 0) + 1 / questions.length / testIds.length);
    }
  }
  const reusable = [...values].filter(([, value]) => kind.isReusable(value));
  const answers = new Map(reusable.map(([key, value]) => [key, JSON.stringify(value)]));
  const id = newId();
  await deps.ledger.keep({ id, agentId, projectId, traceId, runId, call, costUsd, shares, answers });
  if (accountTokensMax !== null) await countJudgeTokens(deps.db, accountId, inputTokens + outputTokens);
}

/** Pauses a judge that refused the call, and saves a wait that users should see. */
async function pauseOrWait(
  { db, clock, connections }: CallDeps,
  reply: JudgeReply<unknown>,
  { judge: { fingerprint } }: JudgeAccess,
): Promise<void> {
  if (reply.code === "refused") {
    await pauseJudge(db, fingerprint, reasonText(reply.detail));
    connections.forget();
  }
  if (reply.code === "later" && reply.retryAt !== null && !reply.alone) {
    const ms = reply.retryAt - clock.now();
    const reason = reasonText(reply.detail);
    if (ms >= shownWaitMs) await saveWait(db, fingerprint, ms, reason).catch(() => {});
  }
}

/** Shorter waits end before anyone could read about them. */
const shownWaitMs = 5_000;
const replaced = unanswered("later", { code: "judge_connection_changed" });
const outOfTime = unanswered("later", { code: "judge_busy_until_deadline" });
const notAsked = unanswered("not_sampled", { code: "judge_not_asked" });
const leftOut = unanswered("unusable", { code: "judge_question_skipped" });

/** Reports a call that is not made. */
function reportEstimate<Q>(
  { kind, prompt, items }: JudgeRequest<Q>,
  { context: { onCall }, access: { prices, judge } }: Asker,
  clock: Pick<Clock, "now">,
): void {
  const inputTokens = tokensOf(prompt);
  const outputTokens = items * answerTokens[kind];
  const price = priceOf(prices, judge.connection, new Date(clock.now()).toISOString().slice(0, 10));
  const costUsd = price ? costOf(price, { inputTokens, outputTokens }) : null;
  onCall?.({ kind, inputTokens, outputTokens, costUsd });
}

function shareOf({ ms, inputTokens, outputTokens, tokensEstimated }: JudgeCall, parts: number): Spent {
  const share = { ms, inputTokens: inputTokens / parts, outputTokens: outputTokens / parts };
  return tokensEstimated ? { ...share, estimated: true } : share;
}
