// The schema of how well the judge agrees with labels: for checks and for scenario matches, by judge and by test version.
import { z } from "zod";
import { labelsOfEachMin, uncorrectedReasons } from "../../model/judge/corrected-rate.ts";
import { Id } from "../frame/schemas.ts";
import { Answer, Judged, judge } from "./label-schemas.ts";

const interval = {
  share: z.number().nullable().describe("0 to 1; null without any."),
  low: z.number().nullable().describe("Lower end of the share's 95% interval (Wilson)."),
  high: z.number().nullable().describe("Upper end."),
};

const Share = z.object({ count: z.number().int(), of: z.number().int(), ...interval });

const agreement = {
  labels: z
    .number()
    .int()
    .describe(
      "Labeled answers that decided. An answer counts once, however many people label it and traces have it from the cache.",
    ),
  agreed: z.number().int().describe("Those that most people call right."),
  undecided: z
    .number()
    .int()
    .describe("Labeled checks that the judge could not decide; they are not among `labels`."),
  disputed: z
    .number()
    .int()
    .describe(
      "Answers that people label differently. The majority counts; without one, the answer is in no share.",
    ),
  decidedShare: z.number().nullable().describe("labels / (labels + undecided), 0 to 1; null without labels."),
  ...interval,
  confusion: z
    .array(z.object({ judged: Judged, answer: Answer, count: z.number().int() }))
    .describe("Answers by what the judge said and what it should be."),
};

const checks = {
  ...agreement,
  falsePass: Share.describe("Answers that the judge passed, of the decided ones that people failed."),
  falseFail: Share.describe("Answers that the judge failed, of the decided ones that people passed."),
};

const scenarios = {
  ...agreement,
  falseNoMatch: Share.describe("Of the answers that should be match: those where the judge said no_match."),
  falseMatch: Share.describe("Of the answers that should be no_match: those where it said match or unsure."),
};

const testVersion = {
  testId: Id,
  agentId: Id,
  name: z.string().describe("Of the test."),
  testVersion: z.number().nullable(),
};

export const CorrectedRate = z.object({
  rate: z.number().describe("0 to 1."),
  low: z.number().describe("Lower end of its 95% interval (Lang-Reiczigel)."),
  high: z.number().describe("Upper end."),
});

const PassRate = z
  .object({
    passed: z.number().int(),
    failed: z.number().int(),
    rate: z.number().nullable().describe("passed / (passed + failed); null if both are 0."),
    corrected: CorrectedRate.nullable().describe(
      "Corrected for the errors of the project's judge that its labels show (Rogan-Gladen).",
    ),
    uncorrected: z
      .enum(uncorrectedReasons)
      .nullable()
      .describe(
        `Why there is none. too_few_labels: fewer than ${labelsOfEachMin} answers of that judge are labeled pass, or fail; unreliable: the judge is not reliable enough to correct for.`,
      ),
  })
  .describe("Of this check and version on live traffic, of the last 30 days.");

export const JudgeAgreement = z
  .object({
    checks: z.object({
      ...checks,
      judges: z.array(z.object({ ...judge, ...checks })),
      tests: z
        .array(z.object({ ...testVersion, checkId: z.string(), ...checks, passRate: PassRate }))
        .describe("By test version and check."),
    }),
    scenarios: z.object({
      ...scenarios,
      judges: z.array(z.object({ ...judge, ...scenarios })),
      tests: z.array(z.object({ ...testVersion, ...scenarios })).describe("By test version."),
    }),
  })
  .describe("Semantic checks and scenario matches apart: for all labels, by judge, and by test version.")
  .meta({ id: "JudgeAgreement" });
export type JudgeAgreement = z.output<typeof JudgeAgreement>;
export type CheckRow = JudgeAgreement["checks"]["tests"][number];
