// The documented shapes of what the editor of test cases is answered.
import { z } from "zod";
import { applicability, Result } from "../traces/schemas.ts";
import { testCase } from "./test-cases.ts";

export const TestDocument = z.looseObject(testCase).meta({ id: "TestCaseDocument" });

export const DraftedAssertion = z
  .looseObject({ type: z.string() })
  .describe("As it stands in a test case, without an id.")
  .meta({ id: "DraftedAssertion" });

export const DryRun = z
  .object({
    traceId: z.string(),
    revision: z.number().describe("The trace's revision that was judged."),
    result: Result.omit({ testId: true }),
    applicability: z
      .object(applicability)
      .nullable()
      .describe("Whether the trace would be judged by the test, were it active; null unless asked for."),
  })
  .meta({ id: "DryRun" });

export const ScenarioTrial = z
  .object({
    traces: z.number().describe("How many of the latest live traces were looked at."),
    withoutInput: z.number().describe("Of them those that hold no user input."),
    unread: z.number().describe("Of them those too large to be read here."),
    inputs: z.number().describe("The distinct inputs; what differs in white space alone is one."),
    cached: z.number().describe("Of them those whose answer is known: they need no call."),
    calls: z.number().describe("Made, or with `estimate` to be made."),
    inputTokens: z.number(),
    outputTokens: z.number(),
    costUsd: z.number().nullable().describe("Null where the price of the model is not known."),
    items: z.array(
      z.object({
        traceId: z.string().describe("The latest that began so."),
        traces: z.number().describe("How many of the traces looked at began so."),
        input: z.string().describe("At most 500 characters of it."),
        label: z.enum(["match", "unsure", "no_match"]).nullable(),
        reason: z.string(),
        cached: z.boolean(),
        suspicious: z.string().optional().describe("Why the input looks as if addressed to a judge."),
      }),
    ),
    left: z.number().describe("Inputs that are not among the items: ask again for them."),
    unavailable: z
      .object({ state: z.string(), reason: z.string() })
      .nullable()
      .describe("Why the judge answers nothing at present."),
  })
  .meta({ id: "ScenarioTrial" });

const terms = z.array(
  z.object({ key: z.string(), samples: z.array(z.unknown()).describe("Up to three values, shortened.") }),
);

export const Vocabulary = z
  .object({
    traces: z.number().describe("How many of the latest traces were read."),
    complete: z.boolean().describe("False where bounds on size or time left something out."),
    spans: z.array(z.object({ name: z.string(), count: z.number(), attributes: terms })),
    tools: z.array(z.object({ name: z.string(), count: z.number(), arguments: terms })),
  })
  .meta({ id: "Vocabulary" });
