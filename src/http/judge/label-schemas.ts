// The schemas of labels of the judge's answers.
import { z } from "zod";
import { ifThen } from "../../model/if-then.ts";
import { judgeProviders } from "../../model/judge/call.ts";
import { judgedAnswers, type LabelQuestion, labelAnswers } from "../../model/judge/label.ts";
import { Id, Note, Time, typed } from "../frame/schemas.ts";
import { estimatedCalls } from "./schemas.ts";

export const Judged = z.enum(judgedAnswers);
export const Answer = z.enum(labelAnswers);

export const LabelFilter = z.object({
  agentId: Id.optional(),
  testId: Id.optional(),
});

export const judge = {
  provider: z
    .enum(judgeProviders)
    .nullable()
    .describe("Null: not known, of an undecided check whose judge calls are deleted."),
  model: z.string(),
  promptVersion: z.string(),
};

const label = {
  id: Id,
  agentId: Id,
  testId: Id,
  traceId: Id,
  runId: Id,
  checkId: z.string().nullable().describe("The id of the semantic check; null: the scenario match."),
  judged: Judged.describe(
    "What the judge said. undecided: it could not decide; unsure: the scenario may match, so the test ran.",
  ),
  answer: Answer.describe("What it should be."),
  agrees: z
    .boolean()
    .nullable()
    .describe("Whether the judge was right. unsure counts as match; null: undecided."),
  note: z.string(),
  testVersion: z.number().nullable(),
  createdBy: z
    .object({ id: z.string(), name: z.string() })
    .nullable()
    .describe("The account, one label of an answer each; null once that is deleted."),
  disputed: z.boolean().describe("Whether somebody else labels the same answer differently."),
  ...judge,
  repeatable: z
    .boolean()
    .describe("Whether the judge can be asked the same again; false if the trace had changed since."),
  createdAt: Time,
  updatedAt: Time,
};

export const LabelBody = z
  .object({
    testId: Id,
    checkId: z.string().max(200).nullable().describe("A semantic check; null: the scenario match."),
    answer: z.enum(labelAnswers).describe("What the judge should have said."),
    note: Note.default(""),
  })
  .meta(
    ifThen(
      { properties: { checkId: { const: null } } },
      { properties: { answer: { enum: ["match", "no_match"] } } },
      { properties: { answer: { enum: ["pass", "fail"] } } },
    ),
  );

export const Label = z.object(label).meta({ id: "Label" });
export type Label = z.output<typeof Label>;

const input = {
  userInput: z.string().nullable(),
};

export const ListedLabel = z.object({ ...label, testName: z.string(), ...input }).meta({ id: "ListedLabel" });
export type ListedLabel = z.output<typeof ListedLabel>;

export const LabelSet = z
  .object({
    kind: z.literal("labels"),
    about: z.string(),
    labels: z.array(
      z.object({
        test: z.string(),
        checkId: z.string().nullable(),
        judged: Judged,
        answer: Answer,
        note: z.string(),
        ...judge,
        question: typed<LabelQuestion>()(z.looseObject({ kind: z.enum(["scenario", "check"]) })).describe(
          "What the judge was asked.",
        ),
      }),
    ),
    nextCursor: z.string().nullable(),
  })
  .describe("A set for `npm run bench:judge`. It quotes traces.")
  .meta({ id: "LabelSet" });
export type LabelSet = z.output<typeof LabelSet>;

const TriedLabel = z.object({
  id: Id,
  agentId: Id,
  testId: Id,
  testName: z.string(),
  ...input,
  traceId: Id,
  runId: Id,
  checkId: z.string().nullable(),
  judged: Judged.describe("What the judge said when it was labeled."),
  answer: Answer.describe("What it should be."),
  now: Judged.nullable().describe("What this judge says; null if it decided nothing."),
  reason: z.string().nullable().describe("Why it decided nothing."),
  changed: z.boolean().describe("Whether it decides otherwise than when it was labeled."),
});

export const LabelTrial = z
  .object({
    items: z.array(TriedLabel).describe("Empty for an estimate."),
    estimate: z.object(estimatedCalls).nullable().describe("Null unless requested."),
    labels: z.number().int().describe("How many labels of this page can be asked again."),
    nextCursor: z.string().nullable().describe("Labels are left: send it as `cursor`."),
    unavailable: z.string().nullable().describe("Why the judge cannot be asked; then the trial ends."),
  })
  .meta({ id: "LabelTrial" });
export type LabelTrial = z.output<typeof LabelTrial>;
