// Scenario questions: which scenarios a user's input matches, and what asking would cost.
import { suspicionOf } from "../evaluate/suspicion.ts";
import { type JudgeCall, scenariosPerCall } from "../model/judge/call.ts";
import type {
  Routed,
  RouteEstimate,
  RouteSpent,
  RoutingAnswer,
  RoutingQuestion,
} from "../model/judge/judge.ts";
import { isWaiting, type Unanswered } from "../model/judge/outcome.ts";
import { quotable } from "../model/judge/prompt-bounds.ts";
import { costOf, priceOf } from "../model/price/price.ts";
import { reasonText } from "../model/run/reason-text.ts";
import type { Clock } from "../remote/clock.ts";
import { routeRequest } from "../remote/judge/client.ts";
import { answerTokens, tokensOf } from "../remote/judge/prompts.ts";
import { type Database, isTransient } from "../store/db.ts";
import { findJudgeAnswers } from "../store/judge/answers.ts";
import { databaseUnavailable, overBudget } from "./admission.ts";
import { evenly } from "./batches.ts";
import { identityOf, keysFor, type ScenarioQuestion } from "./keys.ts";
import { type Answering, type Asker, byKey, type Question, type QuestionKind } from "./question.ts";
import { withRetry } from "./retry.ts";

/** If a call fails, only its own scenarios get no label. */
export async function matchScenarios(
  judges: Answering,
  { userInput, earlier, scenarios, redacted }: RoutingQuestion,
  { context, access }: Asker,
  signal?: AbortSignal,
): Promise<RoutingAnswer> {
  const identity = identityOf(access);
  const keys = keysFor(identity);
  const questions = scenarios.map(({ testId, scenario }): Question<ScenarioQuestion> => {
    const content = {
      ...{ scenario, userInput },
      ...(earlier ? { earlier } : {}),
      ...(redacted ? { redacted } : {}),
    };
    return { key: keys.ofScenario(content), content, testIds: [testId] };
  });
  const spent: RouteSpent = { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 };
  const onCall = (call: JudgeCall, costUsd: number | null) => {
    spent.calls++;
    spent.inputTokens += call.inputTokens;
    spent.outputTokens += call.outputTokens;
    spent.costUsd = costUsd === null || spent.costUsd === null ? null : spent.costUsd + costUsd;
  };
  const outcomes = await judges.answer(kind, questions, { context, access, onCall }, signal);
  const suspicious = suspicionInInput({ userInput, ...(earlier ? { earlier } : {}) });
  const labels = new Map<string, Routed>();
  const unlabelled = new Map<string, Unanswered>();
  for (const { key, testIds } of questions) {
    const outcome = outcomes.get(key)!;
    const testId = testIds[0]!;
    if (outcome.code !== "ok") {
      // The input may have been written to make the judge fail the integrity check, and so to suppress a test.
      if (suspicious !== undefined && outcome.detail.code === "judge_integrity_failed") {
        labels.set(testId, { label: "unsure", reason: reasonText(outcome.detail) });
      } else unlabelled.set(testId, withRetry(outcome, context, judges.clock));
    } else labels.set(testId, suspicious === undefined ? outcome.value : guarded(outcome.value));
  }
  const reasons = [...unlabelled.values()];
  const missing = reasons.find(isWaiting) ?? (labels.size === 0 ? reasons[0] : undefined);
  if (missing) return { ...missing, spent };
  const { provider, model, promptVersion } = identity;
  return {
    ...{ code: "ok", labels, spent, provider, model, promptVersion },
    ...(unlabelled.size === 0 ? {} : { unlabelled }),
    ...(suspicious === undefined ? {} : { suspicious }),
  };
}

/** Why the user's input seems addressed to a judge, or a message before it, which is shown too and may try the same. */
export function suspicionInInput({
  userInput,
  earlier,
}: Pick<RoutingQuestion, "userInput" | "earlier">): string | undefined {
  const shown = [userInput, ...(earlier?.messages ?? []).map(({ text }) => quotable(text))];
  return shown.map(suspicionOf).find(reason => reason !== undefined);
}

/** Ignores "no match" on suspicious inputs: they may try to suppress a test. */
function guarded({ label, reason }: Routed): Routed {
  return { label: label === "no_match" ? "unsure" : label, reason };
}

const kind: QuestionKind<ScenarioQuestion, Routed> = {
  batches: questions => evenly(questions, scenariosPerCall),
  request(questions) {
    const { scenario: _, ...shown } = questions[0]!.content;
    const scenarios = questions.map(({ content: { scenario } }, at) => ({ id: `s${at + 1}`, scenario }));
    return byKey(routeRequest({ ...shown, scenarios }), "s", questions);
  },
  isReusable: () => true,
};

/** A lower bound: asking again for labels that are missing from the first answer costs extra. */
export async function estimateScenarios(
  db: Database,
  clock: Pick<Clock, "now">,
  { scenarios, ...input }: RoutingQuestion,
  { context, access }: Asker,
): Promise<RouteEstimate> {
  const identity = identityOf(access);
  const keys = keysFor(identity);
  const open = new Map(scenarios.map(({ scenario }) => [keys.ofScenario({ scenario, ...input }), scenario]));
  try {
    for (const key of (await findJudgeAnswers(db, context.agentId, [...open.keys()])).keys())
      open.delete(key);
    const denied = open.size === 0 ? undefined : await overBudget(db, context.agentId, access);
    if (denied) return denied;
  } catch (error) {
    if (!isTransient(error)) throw error;
    return databaseUnavailable;
  }
  const requests = evenly([...open.values()], scenariosPerCall).map(batch =>
    routeRequest({ ...input, scenarios: batch.map((scenario, at) => ({ id: `s${at + 1}`, scenario })) }),
  );
  const inputTokens = requests.reduce((sum, { prompt }) => sum + tokensOf(prompt), 0);
  const outputTokens = requests.reduce((sum, { items }) => sum + items, 0) * answerTokens.route;
  const price = priceOf(
    access.prices,
    access.judge.connection,
    new Date(clock.now()).toISOString().slice(0, 10),
  );
  const costUsd = price ? costOf(price, { inputTokens, outputTokens }) : null;
  const { model, promptVersion } = identity;
  return { code: "ok", calls: requests.length, inputTokens, outputTokens, costUsd, model, promptVersion };
}
