// What a routing question would take, guessed by the size of what would be sent; nothing is asked.

import { scenariosPerCall } from "../model/judge/call.ts";
import type { RouteEstimate, RoutingQuestion } from "../model/judge/judge.ts";
import { costOf, priceOf } from "../model/judge/prices.ts";
import type { Clock } from "../remote/clock.ts";
import { answerTokens, routingPrompt, tokensOf } from "../remote/judge/prompts.ts";
import { type Database, isTransient } from "../store/db.ts";
import { findJudgeAnswers } from "../store/judge/answers.ts";
import { budgetFault } from "./budget.ts";
import { unjudgedBy } from "./faults.ts";
import { type Basis, keysOver } from "./keys.ts";
import { evenly } from "./packing.ts";
import type { Behalf } from "./question-broker.ts";

/** As long as a real one. */
const marker = "0".repeat(24);

/** A question that is asked again for what the first answer left out takes more than this. */
export async function estimateRoute(
  { db, clock }: { db: Database; clock: Pick<Clock, "now" | "random"> },
  { userInput, scenarios }: RoutingQuestion,
  basis: Basis,
  { context, reach: { settings, prices } }: Behalf,
): Promise<RouteEstimate> {
  const keys = keysOver(basis);
  const open = new Map(scenarios.map(({ scenario }) => [keys.ofScenario({ scenario, userInput }), scenario]));
  try {
    for (const key of (await findJudgeAnswers(db, [...open.keys()])).keys()) open.delete(key);
    const fault = open.size === 0 ? undefined : await budgetFault(db, context.agentId, settings);
    if (fault) return unjudgedBy(fault, context, clock);
  } catch (error) {
    if (!isTransient(error)) throw error;
    return { state: "unavailable", reason: "The service's database is away." };
  }
  const calls = evenly([...open.values()], scenariosPerCall);
  const inputTokens = calls.reduce((sum, pack) => {
    const asked = pack.map((scenario, at) => ({ id: `s${at + 1}`, scenario }));
    return sum + tokensOf(routingPrompt({ userInput, scenarios: asked }, marker));
  }, 0);
  const outputTokens = open.size * answerTokens.route;
  const price = priceOf(prices, basis, new Date(clock.now()).toISOString().slice(0, 10));
  const { model, promptVersion } = basis;
  return {
    state: "ok",
    calls: calls.length,
    inputTokens,
    outputTokens,
    costUsd: price ? costOf(price, { inputTokens, outputTokens }) : null,
    model,
    promptVersion,
  };
}
