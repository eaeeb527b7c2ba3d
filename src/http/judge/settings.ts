// The judge settings of an agent: its sampling rate and daily budget.
import { z } from "zod";
import { findJudgeSettings, findJudgeToday, updateJudgeSettings } from "../../store/judge/settings.ts";
import type { App, Deps } from "../deps.ts";
import { found } from "../page.ts";
import { JudgeSettings, settingsFields } from "./schemas.ts";

const Settings = z.strictObject(settingsFields);

export function registerJudgeSettings(app: App, { db }: Deps): void {
  const schema = { tags: ["judge"], params: z.object({ id: z.string() }) };

  app.get(
    "/api/agents/:id/judge-settings",
    {
      schema: {
        ...schema,
        summary: "Get judge settings",
        response: { 200: JudgeSettings },
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
        summary: "Update judge settings",
        body: Settings,
        response: { 200: JudgeSettings },
      },
    },
    async ({ params: { id }, body }) => ({
      ...found(await updateJudgeSettings(db, id, body)),
      today: await findJudgeToday(db, id),
    }),
  );
}
