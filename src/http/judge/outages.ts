// Counts traces that are not fully evaluated because the judge was unavailable, and evaluates them again.
import { z } from "zod";
import { againMax } from "../../model/judge/outages.ts";
import type { EventPublisher } from "../../store/events.ts";
import { judgeAgain, readOutages } from "../../store/judge/outages.ts";
import type { App, Deps } from "../deps.ts";
import { Id } from "../schemas.ts";
import { JudgedAgain, Outages } from "./schemas.ts";

const TracesToEvaluate = z.object({
  traceIds: z
    .array(Id)
    .min(1)
    .max(againMax)
    .optional()
    .describe(`Default: traces with checks the judge was unavailable for, at most the ${againMax} oldest.`),
});

export function registerOutages(app: App, { db, events }: Deps & { events: EventPublisher }): void {
  const tags = ["runs"];
  const params = z.object({ id: z.string() });

  app.get(
    "/api/agents/:id/outages",
    {
      schema: {
        tags,
        summary: "Count the traces with checks the judge was unavailable for",
        params,
        response: { 200: Outages },
      },
    },
    async ({ params: { id } }) => {
      const { oldest, ...counts } = await readOutages(db, id);
      return { ...counts, oldest: oldest?.toISOString() ?? null };
    },
  );

  app.post(
    "/api/agents/:id/judge-again",
    {
      schema: {
        tags,
        summary: "Evaluate traces the judge was unavailable for again, with the same versions of the tests",
        params,
        body: TracesToEvaluate,
        response: { 200: JudgedAgain },
      },
    },
    async ({ params: { id: agentId }, body: { traceIds } }) => {
      const scheduled = await judgeAgain(db, agentId, traceIds);
      for (const { runId, traceId } of scheduled.runs) {
        events.publish({ type: "run", agentId, traceId, runId, state: "pending", verdict: null });
      }
      return { scheduled: scheduled.runs.length, left: scheduled.left };
    },
  );
}
