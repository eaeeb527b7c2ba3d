// The response schemas of insights: pass rates, durations and tokens over time.
import { z } from "zod";
import { Failing } from "../alerts/schemas.ts";
import { Id, Time } from "../frame/schemas.ts";
import { CorrectedRate } from "../judge/agreement-schemas.ts";
import { PassRate } from "../test-cases/launch-schemas.ts";
import { Counts, Outcome } from "../traces/result-schemas.ts";

export const stripDays = 30;

const passRate = z.number().nullable().describe("passed / (passed + failed); null if both are 0.");
const tally = {
  counts: Counts.describe("Fully evaluated ones by outcome."),
  notFullyEvaluated: z
    .number()
    .describe("The others, of any outcome, which are in no pass rate. By check always 0."),
  passRate,
};
const Tally = z.object(tally);
export type Tally = z.output<typeof Tally>;

/** Figures by agent, in addition to outcomes. */
const AgentTally = Tally.extend({
  runs: z.number().describe("By agent: all runs, with or without a verdict."),
  routingUnavailable: z.number().describe("By agent: runs for which routing was unavailable."),
  durationMs: z
    .object({ p50: z.number().nullable(), p95: z.number().nullable() })
    .describe("By agent: durations of the evaluated traces, accurate to 10%."),
  tokens: z.object({ input: z.number(), output: z.number() }).describe("By agent: sums."),
});
export type AgentTally = z.output<typeof AgentTally>;

const Point = z.object({
  at: Time.describe("Start of the interval. Intervals without evaluations are left out."),
  ...AgentTally.partial().shape,
  ...tally,
});
export type Point = z.output<typeof Point>;

const Series = z.object({
  testId: Id.nullable(),
  checkId: z.string().nullable(),
  name: z.string().nullable().describe("Name of the test."),
  points: z.array(Point),
  corrected: CorrectedRate.nullish().describe(
    "By check: the pass rate of all points, corrected for the judge's known errors; null without enough labels of the version of the test that gave all of these results.",
  ),
});
export type Series = z.output<typeof Series>;

export const Insights = z
  .object({
    from: Time,
    to: Time.describe("Exclusive."),
    interval: z.enum(["hour", "day"]),
    series: z.array(Series),
    total: AgentTally.optional().describe("By agent: all points as one."),
  })
  .meta({ id: "Insights" });
export type Insights = z.output<typeof Insights>;

export const AgentDay = z
  .object({
    id: Id.describe("The agent's id."),
    lastTraceAt: Time.nullable(),
    runs: z
      .number()
      .describe("Runs of the hour in progress and the 24 before it. The counts cover the same time."),
    routingUnavailable: z.number(),
    ...tally,
  })
  .meta({ id: "AgentInsights" });
export type AgentDay = z.output<typeof AgentDay>;

const Day = z.object({ at: Time, ...tally });
export type Day = z.output<typeof Day>;

export const TestInsights = z
  .object({
    id: Id.describe("The test's id."),
    lastOutcome: Outcome.nullable().describe("On live traffic."),
    lastFullyEvaluated: z.boolean().nullable().describe("Of the same result; null: there is none."),
    lastRunAt: Time.nullable(),
    lastManualOutcome: Outcome.nullable().describe(
      "The worst outcome in the latest launch; manual runs are not counted in the days.",
    ),
    lastManualRunAt: Time.nullable(),
    lastManualFullyEvaluated: z
      .boolean()
      .nullable()
      .describe("False: some check of that launch was not judged; null: no manual run."),
    lastManualPassRate: PassRate.nullable().describe(
      "Of the same launch, if several runs of the test have completed in it.",
    ),
    failing: Failing.nullable().describe("Null unless the test is failing on live traffic."),
    days: z.array(Day).describe(`The last ${stripDays} days, UTC, today last; days without a run included.`),
  })
  .meta({ id: "TestInsights" });
export type TestInsights = z.output<typeof TestInsights>;
