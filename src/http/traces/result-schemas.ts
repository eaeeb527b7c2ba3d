// The response schemas of results: a test on a trace, its checks, and what the judge found. Fields of assertions keep their
// snake_case wire names.
import { z } from "zod";
import type { Result as RunResult } from "../../model/run/run.ts";
import { Id, typed } from "../frame/schemas.ts";

export const Outcome = z.enum(["passed", "failed", "skipped", "missing_instrumentation"]);
export const Counts = z.object({
  passed: z.number(),
  failed: z.number(),
  skipped: z.number(),
  missing_instrumentation: z.number(),
});

export const suspicious = z
  .string()
  .optional()
  .describe("Why the judged text looks as if it were addressed to the judge.");

/** Of a place that a convention of the agent read. */
export const translated = z
  .object({
    as: z.string().describe("The documented attribute that it counts as."),
    convention: z
      .string()
      .describe("The convention by which it was read; `rules`: an own rule of the agent."),
  })
  .meta({ id: "Translated" });

/** The code and values that the sentence in `reason` is made from. */
export const reasonParts = {
  reasonCode: z.string().describe("The kind of reason."),
  reasonData: z
    .looseObject({})
    .optional()
    .describe("The names and numbers in the reason, by its code; absent where it has none."),
};

const materialCounts = z
  .partialRecord(
    z.enum(["system", "user", "assistant", "tool_call", "tool_result"]),
    z.looseObject({ items: z.number().int(), characters: z.number().int() }),
  )
  .describe("Items and characters, by kind.");

const quotePlace = {
  attribute: z.string().nullable().describe("Null: an event or the status of the span."),
  translated: translated.optional().describe("Set where a convention was read."),
  turn: z.number().optional().describe("In a run of several turns: the turn whose trace has the span."),
};

const SemanticActual = z
  .looseObject({
    score: z.number(),
    criteria: z.array(
      z.looseObject({
        criterion: z.string(),
        verdict: z.enum(["met", "mostly", "partly", "not_met", "not_applicable", "cannot_tell"]),
        evidence: z.string().describe("The passage that decides it; empty if none does."),
        reason: z.string(),
        quotes: z
          .array(
            z.looseObject({
              as: z
                .enum(["evidence", "comparison"])
                .describe("evidence: what the agent said or did; comparison: what that is compared with."),
              text: z.string(),
              from: z.enum(["reply", "assistant", "tool_call", "tool_result", "user", "system", "reference"]),
              spanId: z.string().nullable().describe("Null: the reference reply, which is in no span."),
              ...quotePlace,
            }),
          )
          .optional()
          .describe("The passages that the judge quoted, and where they are; absent: none."),
      }),
    ),
    material: z
      .looseObject({
        context: z.enum(["reply", "conversation", "conversation_and_tools"]),
        shown: materialCounts,
        leftOut: materialCounts.describe("What did not fit; characters include those of shortened items."),
        complete: z.boolean().describe("False: the trace was too large to be read as a whole."),
        suspicious: z
          .looseObject({
            from: z.enum(["system", "user", "assistant", "tool_call", "tool_result"]),
            reason: z.string(),
            spanId: z.string(),
            ...quotePlace,
          })
          .optional()
          .describe("What the judge was shown that looks as if it were addressed to it."),
      })
      .describe("What the judge was shown beside the user's input and the reply."),
    sameModel: z.literal(true).optional().describe("The agent uses the judge's model."),
  })
  .describe("The judge's result of a semantic check.")
  .meta({ id: "SemanticActual" });

const Check = z
  .looseObject({
    id: z.string(),
    type: z.string(),
    outcome: Outcome,
    reason: z.string().describe("Why, in one sentence."),
    ...reasonParts,
    expected: z.unknown(),
    actual: z
      // The description keeps the second one in OpenAPI, from which the library removes empty schemas of a union.
      .union([SemanticActual, z.unknown().describe("Of other types of checks.")])
      .describe("What was found, by type of check."),
    evidence: z.array(
      z.looseObject({
        spanId: z.string(),
        attribute: z.string().nullable().describe("Null: the span itself."),
        value: z
          .unknown()
          .optional()
          .describe("Absent if the attribute, or its content, is missing in the span."),
        translated: translated.optional().describe("Set where a convention was read."),
        turn: z.number().optional().describe("In a run of several turns: the turn whose trace has the span."),
      }),
    ),
    skipped: z
      .enum([
        "dependency",
        "threshold",
        "no_judge",
        "judge_unavailable",
        "judge_unusable",
        "budget",
        "undecided",
        "does_not_apply",
        "not_sampled",
        "redacted",
        "withheld",
        "waiting",
        "limit",
      ])
      .optional()
      .describe("Why a skipped check was skipped; waiting: the judge will be asked again."),
    score: z.number().nullable().optional().describe("Semantic checks: the judge's score, from 0 to 1."),
    suspicious,
    match: z
      .object({ before: z.string(), text: z.string(), after: z.string() })
      .optional()
      .describe("response_regex: the matched text and its surroundings."),
    forgotten: z
      .literal(true)
      .optional()
      .describe(
        "The content of the trace was dropped since, and with it the texts and values that were found.",
      ),
  })
  .meta({ id: "Check" });

export const looseResult = z.looseObject({
  testId: Id,
  name: z.string(),
  outcome: Outcome,
  score: z.number().nullable(),
  reason: z.string().describe("The outcome and its counts, in one sentence."),
  ...reasonParts,
  counts: Counts,
  fullyEvaluated: z
    .boolean()
    .describe(
      "Whether each check was judged: none was skipped, but for a dependency or because it does not apply.",
    ),
  checks: z.array(Check),
  test: z.unknown().describe("The test case as evaluated."),
  testVersion: z.number().nullable().describe("The version of the test case; null: it was not saved."),
});

export const Result = typed<RunResult>()(looseResult.meta({ id: "Result" }));
