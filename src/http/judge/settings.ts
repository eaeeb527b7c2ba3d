// The judge settings of an agent: its sampling rate and daily budget.
import { z } from "zod";
import { findJudgeSettings, findJudgeToday, updateJudgeSettings } from "../../store/judge/settings.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { JudgeSettings, settingsFields } from "./schemas.ts";

const Settings = z.strictObject(settingsFields);

export function registerJudgeSettings(app: App, { db }: Deps): void {
  const route = routesOf(app, "judge");

  route("GET /api/agents/:id/judge-settings", {
    access: "tokens",
    summary: "Get judge settings",
    answer: JudgeSettings,
    handler: async ({ id }) => ({
      ...found(await findJudgeSettings(db, id)),
      today: await findJudgeToday(db, id),
    }),
  });

  route("PUT /api/agents/:id/judge-settings", {
    access: "session",
    summary: "Update judge settings",
    body: Settings,
    answer: JudgeSettings,
    handler: async ({ id, body }) => ({
      ...found(await updateJudgeSettings(db, id, body)),
      today: await findJudgeToday(db, id),
    }),
  });
}
