// Judge calls of a run with prompts and answers, and judge usage of an agent by day and test.
import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import { listJudgeCalls } from "../../store/judge/calls.ts";
import { listJudgeDays, listJudgeTests } from "../../store/judge/costs.ts";
import type { App, Deps } from "../frame/deps.ts";
import { PageQuery, pageOf } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { Day, pageSchema, queryNumber } from "../frame/schemas.ts";
import { JudgeCall, JudgeUsage } from "./schemas.ts";

/** A page: each call has a prompt of up to some 100 KB, which is decompressed here, where other accounts are answered too. */
const callsMax = 30;
const spanDaysMax = 366;
const spanDaysDefault = 30;
const dayMs = 86_400_000;

const Query = z.object({
  from: Day.optional().describe("First day (UTC). Default: 30 days up to `to`."),
  to: Day.optional().describe("Last day (UTC). Default: today."),
});

export function registerJudging(app: App, { db }: Deps): void {
  const route = routesOf(app, "judge");

  route("GET /api/runs/:id/calls", {
    access: "tokens",
    summary: "List the judge calls of a run, in the order in which they ended",
    query: PageQuery.extend({
      limit: queryNumber(z.number().int().min(1).max(callsMax)).prefault(callsMax),
    }),
    answer: pageSchema(JudgeCall),
    handler: async ({ id, query: { cursor, limit } }) => {
      const rows = await listJudgeCalls(db, id, { after: cursor, rowsMax: limit + 1 });
      return pageOf(rows, { limit });
    },
  });

  route("GET /api/agents/:id/judging", {
    access: "tokens",
    summary: "Get the judge usage of an agent by day and by test",
    query: Query,
    answer: JudgeUsage,
    handler: async ({ id, query }) => {
      const span = spanOf(query);
      const [days, tests] = await Promise.all([listJudgeDays(db, id, span), listJudgeTests(db, id, span)]);
      return { days, tests };
    },
  });
}

function spanOf(query: z.output<typeof Query>): { from: string; to: string } {
  const to = query.to ?? dayOf(Date.now());
  const from = query.from ?? dayOf(Date.parse(to) - (spanDaysDefault - 1) * dayMs);
  if (from > to) throw refused("from", "Must not be after `to`.");
  if (Date.parse(to) - Date.parse(from) >= spanDaysMax * dayMs) {
    throw refused("from", `Must not be more than ${spanDaysMax} days before \`to\`.`);
  }
  return { from, to };
}

function refused(path: string, message: string): Refusal {
  return new Refusal("VALIDATION_ERROR", { issues: [{ path, message }] });
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
