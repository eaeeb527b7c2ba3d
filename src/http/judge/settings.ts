// Of each agent: the share of its runs whose semantic checks are judged, and what judging may cost in a day.
import { z } from "zod";
import { findJudgeSettings, findJudgeToday, updateJudgeSettings } from "../../store/judge/settings.ts";
import type { App, Deps } from "../deps.ts";
import { found } from "../page.ts";
import { judgeUse } from "../traces/schemas.ts";

const Settings = z.strictObject({
  sampling: z.number().min(0).max(1).describe("The share of traces whose semantic checks are judged."),
  budgetUsd: z.number().min(0).max(1_000_000).nullable().describe("For a day of UTC; null: no bound."),
  budgetTokens: z.int().min(0).max(1_000_000_000_000).nullable().describe("The same, in and out together."),
});

const View = z
  .object({
    ...Settings.shape,
    today: z
      .object({
        day: z.string(),
        calls: z.number().int(),
        cached: z.number().int().describe("Questions that needed no call."),
        ...judgeUse,
      })
      .describe("What judging this agent has taken so far."),
  })
  .meta({ id: "JudgeSettings" });

export function registerJudgeSettings(app: App, { db }: Deps): void {
  const schema = { tags: ["judge"], params: z.object({ id: z.string() }) };

  app.get(
    "/api/agents/:id/judge-settings",
    {
      schema: {
        ...schema,
        summary: "How much of the agent is judged, and for how much",
        response: { 200: View },
      },
    },
    async ({ params: { id } }) => ({
      ...found(await findJudgeSettings(db, id)),
      today: await findJudgeToday(db, id),
    }),
  );

  app.put(
    "/api/agents/:id/judge-settings",
    {
      schema: {
        ...schema,
        summary: "Say how much of the agent is judged, and for how much",
        body: Settings,
        response: { 200: View },
      },
    },
    async ({ params: { id }, body }) => ({
      ...found(await updateJudgeSettings(db, id, body)),
      today: await findJudgeToday(db, id),
    }),
  );
}
