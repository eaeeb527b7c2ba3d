// The response schema of an agent's overview.
import { z } from "zod";
import { Failing } from "../alerts/schemas.ts";
import { Id, Time } from "../frame/schemas.ts";
import { Counts } from "../traces/result-schemas.ts";

const whole = z.number().int().min(0);

export const BoundedCount = z
  .object({
    count: whole,
    atLeast: z.boolean().describe("Counting ended early, to take bounded time: there may be more."),
  })
  .meta({ id: "BoundedCount" });
export type BoundedCount = z.output<typeof BoundedCount>;

const Results = z.object({
  from: Time.describe("A full hour, UTC."),
  to: Time.describe("Exclusive."),
  evaluated: whole.describe("Live traces with a completed evaluation, with or without a verdict."),
  counts: Counts.describe("By the verdict of the latest evaluation, if it is fully evaluated."),
  notFullyEvaluated: whole.describe("The others, which are in no pass rate."),
  passRate: z.number().nullable().describe("passed / (passed + failed); null if both are 0."),
  noVerdict: whole.describe("Evaluated traces to which no test applied."),
  routingUnavailable: whole,
});
export type Results = z.output<typeof Results>;

const Traffic = z.object({
  from: Time,
  to: Time.describe("Exclusive."),
  traces: BoundedCount.describe("Live traces received, evaluated or not."),
});
export type Traffic = z.output<typeof Traffic>;

const TraceBrief = z.object({
  id: Id,
  name: z.string(),
  userInput: z.string().nullable().describe("The first 200 characters."),
  receivedAt: Time,
  durationMs: z.number().nullable(),
});
export type TraceBrief = z.output<typeof TraceBrief>;

const TestBrief = z.object({ testId: Id, name: z.string() });

export const Overview = z
  .object({
    lastTraceAt: Time.nullable().describe("Null: the agent has no traces."),
    tests: whole,
    eligibleTests: whole.describe("Tests that evaluate live traffic."),
    traffic: z.object({ now: Traffic, before: Traffic.describe("The same time a week before.") }),
    results: z.object({
      now: Results,
      before: Results.describe("The same hours a week before; the last one is whole."),
    }),
    open: z
      .object({ pending: BoundedCount, running: BoundedCount, error: BoundedCount })
      .describe("Live traces without a verdict, by the state of their evaluation. They are in no pass rate."),
    notEvaluated: BoundedCount.describe("Live traces without an evaluation: no test was active."),
    failing: z
      .object({
        total: whole,
        tests: z.array(
          TestBrief.extend({ ...Failing.shape, failures: whole.describe("In the hours of `results.now`.") }),
        ),
      })
      .describe("Tests that are failing on live traffic; those that began last are first."),
    failures: z
      .array(TraceBrief.extend({ failedTests: z.array(TestBrief) }))
      .describe("The newest traces with the verdict failed."),
    slowest: z
      .object({ searched: whole, traces: z.array(TraceBrief) })
      .describe("The slowest of the newest traces, of which this many at most are searched."),
    missing: z
      .array(TestBrief.extend({ results: whole }))
      .describe("Tests with most results of missing instrumentation, in the hours of `results.now`."),
  })
  .meta({ id: "Overview" });
export type Overview = z.output<typeof Overview>;
