// What an agent's judging may cost in a day, looked at before every call goes out: whoever spends writes to the same day.
import type { Database } from "../store/db.ts";
import { findJudgeToday, type JudgeSettings } from "../store/judge/settings.ts";
import type { Fault } from "./faults.ts";

/** Undefined while there is something left, or no bound. Calls under way at the same time may go beyond it. */
export async function budgetFault(
  db: Database,
  agentId: string,
  { budgetUsd, budgetTokens }: JudgeSettings,
): Promise<Fault | undefined> {
  if (budgetUsd === null && budgetTokens === null) return undefined;
  const { costUsd, inputTokens, outputTokens } = await findJudgeToday(db, agentId);
  const spent =
    budgetUsd !== null && costUsd >= budgetUsd
      ? budgetUsd.toLocaleString("en", { style: "currency", currency: "USD", maximumFractionDigits: 9 })
      : budgetTokens !== null && inputTokens + outputTokens >= budgetTokens
        ? `${budgetTokens.toLocaleString("en")} tokens`
        : undefined;
  if (spent === undefined) return undefined;
  const reason = `The agent's daily budget of ${spent} for judging is used up; the next day begins at 00:00 UTC.`;
  return { state: "spent", reason };
}
