// The response schemas of test cases.

import { z } from "zod";
import type { TestCase, TestCaseDocument } from "../../model/test-case/document.ts";
import { type Ineligibility, ineligibilities } from "../../model/test-case/eligibility.ts";
import { FieldIssue, Id, typed } from "../frame/schemas.ts";

/** Of requests with a test case: its inputs may have a million characters, each of up to six bytes in JSON. */
export const testBytesMax = 8 * 1024 * 1024;

export const Status = z.enum(["active", "disabled"]);

const Eligibility = z
  .enum(ineligibilities)
  .nullable()
  .describe("Why the test does not evaluate live traffic; null if it does.");

// Loose: what a document may have is checked when it is saved.
const documentFields = {
  name: z.string(),
  status: Status,
  passiveBehavior: z.enum(["always_run", "run_when_relevant", "manual_only"]),
  scenario: z.string(),
  threshold: z.unknown(),
  turns: z.array(z.object({ input: z.string() })),
  inputs: z
    .array(z.object({ input: z.string() }))
    .optional()
    .describe("Manual runs send each in place of the only turn's input."),
  repeats: z.number().optional().describe("How often manual runs send each input; absent: once."),
  draftedFrom: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe("The trace whose words the test has, or several."),
  assertions: z.array(z.looseObject({ id: z.string(), type: z.string() })),
};

export const TestDocument = typed<TestCaseDocument>()(
  z.looseObject(documentFields).meta({ id: "TestCaseDocument" }),
);
export type TestDocument = z.output<typeof TestDocument>;

export const ListedTest = typed<TestCase & { eligibility: Ineligibility | null }>()(
  z
    .looseObject({ id: Id, agentId: Id, ...documentFields, eligibility: Eligibility })
    .meta({ id: "TestCase" }),
);
export type ListedTest = z.output<typeof ListedTest>;

export const ValidatedTest = z
  .object({
    valid: z.literal(true),
    document: typed<TestCaseDocument>()(z.looseObject(documentFields)),
    eligibility: Eligibility,
    warnings: z.array(FieldIssue).describe("Valid, but possibly not what was meant."),
  })
  .meta({ id: "ValidatedTestCase" });
export type ValidatedTest = z.output<typeof ValidatedTest>;
