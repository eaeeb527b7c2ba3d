// How long a project keeps its traces.
import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import { findRetention, saveRetention } from "../../store/traces/retention.ts";
import type { App, Deps } from "../deps.ts";
import { Retention, retentionDaysMax } from "./retention-schemas.ts";

const params = z.object({ id: z.string() });
const tags = ["projects"];

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
  const serverDays = config.retentionDays ?? null;

  app.get(
    "/api/projects/:id/retention",
    {
      schema: { tags, params, summary: "Get how long traces are kept", response: { 200: Retention } },
    },
    async ({ params: { id } }) => {
      const days = await findRetention(db, id);
      if (days === undefined) throw new Refusal("NOT_FOUND");
      return { days, serverDays };
    },
  );

  app.put(
    "/api/projects/:id/retention",
    {
      schema: {
        tags,
        params,
        summary: "Set how long traces are kept; older ones are deleted in the background",
        body: Body,
        response: { 200: Retention },
      },
    },
    async ({ params: { id }, body: { days } }) => {
      if (serverDays !== null && days !== null && days > serverDays) {
        const message = `Must be at most ${serverDays}: this server deletes older traces of all projects.`;
        throw new Refusal("VALIDATION_ERROR", { issues: [{ path: "days", message }] });
      }
      if (!(await saveRetention(db, id, days))) throw new Refusal("NOT_FOUND");
      retention.wake();
      return { days, serverDays };
    },
  );
}
