// The response schemas of the judge: connections, trials, calls, costs and unavailability.
import { z } from "zod";
import { judgeModes, judgeProviders } from "../../model/judge/call.ts";
import { modelName } from "../../model/judge/connection.ts";
import { outagesMax } from "../../model/judge/outages.ts";
import { againRefusals } from "../../model/run/tests-again.ts";
import { Day, Id, Time } from "../frame/schemas.ts";
import { judgeUse } from "../traces/run-schemas.ts";

const Provider = z.enum(judgeProviders);
const Mode = z.enum(judgeModes);

export const JudgeCall = z
  .object({
    id: Id,
    kind: z.enum(["route", "semantic", "classify"]),
    startedAt: Time,
    ms: z.number().int(),
    provider: Provider,
    model: z.string(),
    promptVersion: z.string(),
    mode: Mode.describe("How the answer's structure was requested."),
    state: z.enum(["ok", "later", "refused", "unusable", "aborted"]),
    reason: z.string().nullable().describe("Why there is no answer, in one sentence; null if there is one."),
    inputTokens: z.number().int(),
    outputTokens: z.number().int(),
    tokensEstimated: z.boolean().describe("True: the server reported no usage, so the tokens are estimated."),
    costUsd: z.number().nullable().describe("Null if the price is not known."),
    instructions: z.string(),
    material: z.string().describe("The content of the trace, marked as such."),
    answer: z.string().nullable().describe("As far as it was received."),
  })
  .meta({ id: "JudgeCall" });
export type JudgeCall = z.output<typeof JudgeCall>;

const JudgeDay = z.object({
  day: z.string(),
  calls: z.number().int(),
  cached: z.number().int().describe("Questions answered without a call."),
  ...judgeUse,
});
export type JudgeDay = z.output<typeof JudgeDay>;

export const JudgeUsage = z
  .object({
    days: z.array(JudgeDay).describe("Oldest first; days without questions are left out."),
    tests: z
      .array(z.object({ testId: Id, name: z.string(), ...judgeUse }))
      .describe("Most expensive first. Tests that share a call share its cost."),
  })
  .meta({ id: "Judging" });
export type JudgeUsage = z.output<typeof JudgeUsage>;

export const EnvironmentJudge = z
  .object({
    configured: z.boolean(),
    host: z.string().nullable().describe("From SVC_JUDGE_URL, or the provider's own."),
    model: z.string().nullable(),
  })
  .meta({ id: "Judge" });
export type EnvironmentJudge = z.output<typeof EnvironmentJudge>;

export const JudgeTrial = z
  .object({
    ok: z.boolean().describe("Whether the judge answered, and answered correctly."),
    mode: Mode.nullable().describe("The first mode that works."),
    ms: z.number().int(),
    reason: z.string().describe("The result, in one sentence."),
    fault: z
      .enum(["later", "refused", "unusable", "budget", "misjudged", "context"])
      .nullable()
      .describe("The kind of fault, which decides how to fix it."),
    tried: z.array(z.object({ mode: Mode, ok: z.boolean(), reason: z.string() })),
  })
  .meta({ id: "JudgeTrial" });
export type JudgeTrial = z.output<typeof JudgeTrial>;
export type JudgeFault = NonNullable<JudgeTrial["fault"]>;

const callFigures = {
  calls: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number().nullable().describe("Null if the price of the model is not known."),
};

/** Judge calls that would be made. */
export const estimatedCalls = {
  ...callFigures,
  calls: z.number().describe("Calls whose answers are not in the cache, each check judged once."),
  atMost: z
    .object(callFigures)
    .describe("If every check needs two further votes, and the judge is asked what each criterion rests on."),
};

export const ProjectJudge = z
  .object({
    source: z.enum(["project", "environment"]).nullable().describe("Null: no judge is configured."),
    provider: Provider.nullable(),
    host: z.string().nullable(),
    url: z
      .string()
      .nullable()
      .describe("Set only if the project has its own judge; null: the provider's default URL."),
    model: z.string().nullable(),
    headers: z
      .array(z.object({ name: z.string() }))
      .describe("The connection's own headers, without values."),
    keySet: z.boolean(),
    keyLastFour: z.string().nullable().describe("Null for short keys and for the environment's key."),
    concurrency: z.number().int().nullable(),
    tokensPerMinute: z.number().int().nullable(),
    votes: z.boolean().describe("Whether a failure that one criterion decides is voted on, too."),
    mode: Mode.nullable().describe("How the answer's structure is requested; null: not known yet."),
    testedAt: Time.nullable().describe("When a test last succeeded."),
    pausedReason: z
      .string()
      .nullable()
      .describe("Why the judge is paused, until it is edited or a test of it succeeds."),
    waiting: z
      .object({ until: Time, reason: z.string() })
      .nullable()
      .describe(
        "Set while the judge is not called because its server asked to wait; cleared by an edit or a restart.",
      ),
    lowCount: z
      .object({
        at: Time,
        counted: z.number().int().describe("Input tokens, as the server counted them."),
        sent: z.number().int().describe("As estimated from the prompt."),
      })
      .nullable()
      .describe("When the server last counted far fewer tokens than were sent: its context may be cut."),
    environment: z
      .object({ provider: Provider, host: z.string(), model: z.string() })
      .nullable()
      .describe("The judge used when the project has none of its own."),
  })
  .meta({ id: "ProjectJudge" });
export type ProjectJudge = z.output<typeof ProjectJudge>;

const usd = z.number("Must be a number.").min(0).max(1_000_000).describe("US dollars per million tokens.");

export const OwnPrice = z.strictObject({
  model: modelName,
  validFrom: Day.describe("Until a later price of the same model."),
  inputUsd: usd,
  outputUsd: usd,
  cachedUsd: usd
    .nullable()
    .default(null)
    .describe("Input read from the provider’s cache; null: as other input."),
  cacheWriteUsd: usd.nullable().default(null).describe("Input written to the cache; null: as other input."),
});

export const JudgePrices = z
  .object({
    own: z.array(OwnPrice).describe("By model, latest first. They override built-in prices."),
    builtIn: z.array(
      OwnPrice.extend({
        provider: Provider,
        promptMax: z
          .number()
          .nullable()
          .describe(
            "Tokens of a prompt up to which the price applies; the price of longer ones is not known.",
          ),
      }),
    ),
  })
  .meta({ id: "JudgePrices" });
export type JudgePrices = z.output<typeof JudgePrices>;

export const settingsFields = {
  sampling: z.number().min(0).max(1).describe("The share of traces whose semantic checks are judged."),
  budgetUsd: z.number().min(0).max(1_000_000).nullable().describe("Per day (UTC); null: no limit."),
  budgetTokens: z
    .int()
    .min(0)
    .max(1_000_000_000_000)
    .nullable()
    .describe("Input and output tokens per day (UTC); null: no limit."),
};

export const JudgeSettings = z
  .object({ ...settingsFields, today: JudgeDay.describe("Judge usage of this agent today.") })
  .meta({ id: "JudgeSettings" });
export type JudgeSettings = z.output<typeof JudgeSettings>;

export const Outages = z
  .object({
    traces: z
      .number()
      .int()
      .describe(
        `Traces whose latest run has checks the judge was unavailable for; counted up to ${outagesMax}.`,
      ),
    scheduled: z.number().int().describe("Of these, the traces that will be judged again."),
    oldest: Time.nullable().describe("When the oldest of them was received."),
  })
  .meta({ id: "Outages" });
export type Outages = z.output<typeof Outages>;

export const JudgedAgain = z
  .object({
    scheduled: z
      .number()
      .int()
      .describe(
        "Traces that get another run, and manual runs evaluated again; those under way are left out.",
      ),
    left: z
      .number()
      .int()
      .describe(
        `Traces the judge was unavailable for and that are not scheduled; counted up to ${outagesMax}.`,
      ),
    refused: z
      .array(z.object({ traceId: Id, reason: z.enum(againRefusals), message: z.string() }))
      .describe("Those of `traceIds` that are not evaluated again, and why."),
  })
  .meta({ id: "JudgedAgain" });
export type JudgedAgain = z.output<typeof JudgedAgain>;
