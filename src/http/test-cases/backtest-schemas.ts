// The response schemas of backtests and of results by test version.
import { z } from "zod";
import { backtestCauses, backtestChanges } from "../../model/run/backtest.ts";
import { Id, Time } from "../frame/schemas.ts";
import { estimatedCalls } from "../judge/schemas.ts";
import { Counts, Outcome } from "../traces/result-schemas.ts";
import { TestDocument } from "./schemas.ts";

export const BacktestEstimate = z
  .object({
    traces: z.number().describe("How many traces the backtest would try."),
    needsJudge: z.boolean().describe("Whether the test has semantic checks or a scenario to match."),
    sampled: z.number().describe("How many traces were read to estimate; the figures are for all of them."),
    ...estimatedCalls,
    unavailable: z
      .object({ state: z.string(), reason: z.string() })
      .nullable()
      .describe("Why the judge cannot be called now."),
  })
  .meta({ id: "BacktestEstimate" });
export type BacktestEstimate = z.output<typeof BacktestEstimate>;

export const BacktestChange = z
  .enum(backtestChanges)
  .describe(
    "broke: passed, now failed; fixed: the reverse; changed: any other difference; other_cause: a difference that the test did not make; new: no earlier result that is fully evaluated; none: none now",
  );

const BacktestGroup = z.object({
  before: Outcome.nullable().describe(
    "In the latest stored result, if it is fully evaluated; null: there is none.",
  ),
  after: Outcome.nullable(),
  change: BacktestChange,
  traces: z.number(),
});
export type BacktestGroup = z.output<typeof BacktestGroup>;

const backtestFields = {
  id: Id,
  agentId: Id,
  testId: Id.nullable().describe("The saved test whose results it is compared with."),
  testName: z.string(),
  testVersion: z.number().nullable().describe("Null: an unsaved draft was tried."),
  createdAt: Time,
  finishedAt: Time.nullable(),
  state: z
    .enum(["running", "completed", "cancelled", "interrupted", "error"])
    .describe("interrupted: the service stopped before it finished."),
  judged: z.boolean().describe("Whether the judge was allowed to be called."),
  traces: z.number(),
  tried: z.number().describe("How many of the traces have a result."),
  groups: z.array(BacktestGroup).describe("The tried traces, counted by their outcomes, most first."),
  usage: z
    .object({
      calls: z.number(),
      inputTokens: z.number(),
      outputTokens: z.number(),
      costUsd: z.number().describe("Excludes unpricedTokens."),
      unpricedTokens: z.number(),
    })
    .describe("Usage of the judge."),
  error: z.string().nullable(),
};

export const Backtest = z.object(backtestFields).meta({ id: "Backtest" });
export type Backtest = z.output<typeof Backtest>;

export const BacktestDetail = z
  .object({ ...backtestFields, test: TestDocument.describe("The test case as it was tried.") })
  .meta({ id: "BacktestDetail" });
export type BacktestDetail = z.output<typeof BacktestDetail>;

export const BacktestResult = z
  .object({
    traceId: Id,
    receivedAt: Time,
    userInput: z.string().nullable().describe("Shortened."),
    before: Outcome.nullable(),
    beforeVersion: z.number().nullable().describe("The test version of the earlier result."),
    after: Outcome.nullable(),
    change: BacktestChange,
    cause: z
      .enum(backtestCauses)
      .nullable()
      .describe(
        "Of other_cause: the trace has other content, or another judge or another version of our prompt judged it.",
      ),
    reason: z.string(),
    checkId: z
      .string()
      .nullable()
      .describe("The check that decided the outcome; null if there is no single one."),
    checkType: z.string().nullable(),
  })
  .meta({ id: "BacktestResult" });
export type BacktestResult = z.output<typeof BacktestResult>;

export const TestVersion = z
  .object({
    version: z.number(),
    counts: Counts.describe("Fully evaluated results by outcome."),
    notFullyEvaluated: z.number().describe("The other results, which are in no pass rate."),
    passRate: z.number().nullable().describe("passed / (passed + failed)."),
    firstRunAt: Time.describe("When the first result of the version was stored."),
    lastRunAt: Time,
  })
  .meta({ id: "TestVersion" });
export type TestVersion = z.output<typeof TestVersion>;
