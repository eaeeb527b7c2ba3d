// Traces of an agent that are not fully evaluated because the judge was unavailable; evaluates them again.
import { z } from "zod";
import { againMax } from "../../model/judge/outages.ts";
import type { EventPublisher } from "../../store/events.ts";
import { judgeAgain, readOutages } from "../../store/judge/outages.ts";
import type { App, Deps } from "../deps.ts";
import { Id } from "../schemas.ts";
import { JudgedAgain, Outages } from "./schemas.ts";

const Again = z.object({
  traceIds: z
    .array(Id)
    .min(1)
    .max(againMax)
    .optional()
    .describe(`Absent: those that an outage left something open on, the oldest ${againMax} of them.`),
});

export function registerOutages(app: App, { db, events }: Deps & { events: EventPublisher }): void {
  const tags = ["runs"];
  const params = z.object({ id: z.string() });

  app.get(
    "/api/agents/:id/outages",
    {
      schema: {
        tags,
        summary: "Count the traces that an unavailable judge left partly unevaluated",
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
        summary: "Evaluate traces again that an unavailable judge left open, by the tests as they were",
        params,
        body: Again,
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
