// The response schemas of runs.

import { z } from "zod";
import type { Applicability as RunApplicability } from "../../model/run/run.ts";
import { ShownRules } from "../convention-schemas.ts";
import { Id, Time, typed } from "../frame/schemas.ts";
import { Counts, Outcome, Result, reasonParts, suspicious } from "./result-schemas.ts";

const runFields = {
  id: Id,
  traceId: Id.nullable().describe(
    "Null: the manual run has no trace yet. With several turns: the trace of the last turn.",
  ),
  agentId: Id,
  revision: z.number().nullable().describe("The revision of the trace that was evaluated."),
  kind: z.enum(["passive", "manual"]),
  launchId: Id.nullable().describe("Manual runs: the launch."),
  state: z.enum(["pending", "running", "completed", "error", "cancelled"]),
  dueAt: Time,
  createdAt: Time,
  startedAt: Time.nullable(),
  finishedAt: Time.nullable(),
  attempts: z.number(),
  routing: z.enum(["ok", "not_needed", "no_user_input", "unavailable"]).nullable(),
  verdict: Outcome.nullable(),
  score: z.number().nullable(),
  counts: Counts.nullable(),
  error: z.string().nullable(),
  cause: z
    .enum(["traffic", "again"])
    .describe("again: someone had the trace evaluated again with the tests of its last run."),
  fullyEvaluated: z
    .boolean()
    .nullable()
    .describe(
      "False: a result is not, or the scenario of a test could not be matched. Such runs are in no pass rate, comparison or alert. Null until the run has completed.",
    ),
  outage: z
    .boolean()
    .describe("The judge was unavailable for some of this, and no later run of the trace has judged it."),
  waiting: z
    .object({
      nextTryAt: Time,
      until: Time.describe("When the service stops waiting for the judge."),
      reason: z.string(),
    })
    .nullable()
    .describe("Set while a running run waits for the judge; its results are the ones known so far."),
};

/** Sums over judge calls. */
export const judgeUse = {
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number(),
  unpricedTokens: z.number().describe("Tokens without a known price; not included in `costUsd`."),
  estimatedTokens: z
    .number()
    .describe("Tokens of calls whose server reported no usage; part of the other sums."),
};

export const Run = z.object(runFields).meta({ id: "Run" });
export type Run = z.output<typeof Run>;

/** Whether a test ran, and why or why not. */
export const applicability = {
  applied: z.boolean(),
  why: z.string(),
  reason: z
    .string()
    .optional()
    .describe("The judge's own reason for a match; why there is no answer where routing is unavailable."),
  ...reasonParts,
  reasonCode: reasonParts.reasonCode.optional(),
  suspicious,
};

const Applicability = typed<RunApplicability>()(
  z.looseObject({ testId: Id, name: z.string(), ...applicability }),
);

const JudgeUseSum = z.object({ calls: z.number().int(), ...judgeUse });
export type JudgeUseSum = z.output<typeof JudgeUseSum>;

export const RunDetail = z
  .object({
    ...runFields,
    results: z.array(Result),
    tests: z
      .array(Applicability)
      .describe("For each test as it was at the time: whether it ran, and why or why not."),
    conventions: z
      .array(z.string())
      .describe("The conventions that the trace was read by: those of the agent when the run began."),
    conventionRules: ShownRules.describe("The agent's own rules when the run began."),
    judging: JudgeUseSum.nullable().describe("Sums of the run's judge calls; null if there were none."),
  })
  .meta({ id: "RunDetail" });
export type RunDetail = z.output<typeof RunDetail>;
