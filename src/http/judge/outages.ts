// What an outage of the judge left unjudged on an agent's traces, and the button that has it judged again.
import { z } from "zod";
import type { EventPublisher } from "../../store/events.ts";
import { againMax, judgeAgain, outagesMax, readOutages } from "../../store/judge/outages.ts";
import type { App, Deps } from "../deps.ts";
import { Id } from "../validate.ts";

const Outages = z
  .object({
    traces: z
      .number()
      .int()
      .describe(`Traces whose latest run lacks something for an outage; ${outagesMax} are counted at most.`),
    scheduled: z.number().int().describe("Of these, those that are going to be judged again."),
    oldest: z.iso.datetime().nullable().describe("When the oldest of them was received."),
  })
  .meta({ id: "Outages" });

const Again = z.object({
  traceIds: z
    .array(Id)
    .min(1)
    .max(againMax)
    .optional()
    .describe(`Absent: those that an outage left something open on, the oldest ${againMax} of them.`),
});

const Scheduled = z
  .object({
    scheduled: z
      .number()
      .int()
      .describe("Traces that get a further run; one that is judged anyway gets none."),
    left: z
      .number()
      .int()
      .describe(
        `Traces that an outage left something open on and that nothing is scheduled for, to ${outagesMax}.`,
      ),
  })
  .meta({ id: "JudgedAgain" });

export function registerOutages(app: App, { db, events }: Deps & { events: EventPublisher }): void {
  const tags = ["runs"];
  const params = z.object({ id: z.string() });

  app.get(
    "/api/agents/:id/outages",
    {
      schema: {
        tags,
        summary: "What outages of the judge left unjudged",
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
        summary:
          "Judge again what an outage left open, each trace by a further run of the tests as they were",
        params,
        body: Again,
        response: { 200: Scheduled },
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
