// Of each agent: the share of its runs whose semantic checks are judged, and what judging may cost in a day.
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
        summary: "How much of the agent is judged, and for how much",
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
        summary: "Say how much of the agent is judged, and for how much",
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
