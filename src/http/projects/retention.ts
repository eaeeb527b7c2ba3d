// How long a project keeps its traces.
import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import { findRetention, saveRetention } from "../../store/traces/retention.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { Retention, retentionDaysMax } from "./retention-schemas.ts";

const Body = z.strictObject({
  days: z
    .int()
    .min(1)
    .max(retentionDaysMax)
    .nullable()
    .describe("Days from a trace's arrival to its deletion; null: until somebody deletes it."),
});

export type RetentionDeps = Deps & {
  /** Begins to delete. */
  retention: { wake(): void };
};

export function registerRetention(app: App, { db, config, retention }: RetentionDeps): void {
  const route = routesOf(app, "projects");
  const serverDays = config.retentionDays ?? null;

  route("GET /api/projects/:id/retention", {
    access: "tokens",
    summary: "Get how long traces are kept",
    answer: Retention,
    handler: async ({ id }) => {
      const days = found(await findRetention(db, id));
      return { days, serverDays };
    },
  });

  route("PUT /api/projects/:id/retention", {
    access: "session",
    summary: "Set how long traces are kept; older ones are deleted in the background",
    body: Body,
    answer: Retention,
    handler: async ({ id, body: { days } }) => {
      if (serverDays !== null && days !== null && days > serverDays) {
        const message = `Must be at most ${serverDays}: this server deletes older traces of all projects.`;
        throw new Refusal("VALIDATION_ERROR", { issues: [{ path: "days", message }] });
      }
      if (!(await saveRetention(db, id, days))) throw new Refusal("NOT_FOUND");
      retention.wake();
      return { days, serverDays };
    },
  });
}
