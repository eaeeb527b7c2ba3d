// The documented shapes of what the editor of test cases is answered.
import { z } from "zod";
import { testCase } from "./test-cases.ts";
import { Result } from "./trace-schemas.ts";

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
      .object({ applied: z.boolean(), why: z.string(), reason: z.string().optional() })
      .nullable()
      .describe("Whether the trace would be judged by the test, were it active; null unless asked for."),
  })
  .meta({ id: "DryRun" });

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
