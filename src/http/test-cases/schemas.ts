// The response schemas of test cases.
import { z } from "zod";
import type { TestCase, TestCaseDocument } from "../../model/test-case/test-case.ts";
import { FieldIssue, Id, typed } from "../schemas.ts";

export const Status = z.enum(["active", "disabled"]);

const Eligibility = z
  .enum(["disabled", "manual_only", "multi_turn"])
  .nullable()
  .describe("Why live traffic is not evaluated by the test; null if it is.");
export type Eligibility = z.output<typeof Eligibility>;

// Loose: documents stored under an earlier version's rules can still be read.
const documentFields = {
  name: z.string(),
  status: Status,
  passiveBehavior: z.enum(["always_run", "run_when_relevant", "manual_only"]),
  scenario: z.string(),
  threshold: z.unknown(),
  turns: z.array(z.object({ input: z.string() })),
  assertions: z.array(z.looseObject({ id: z.string(), type: z.string() })),
};

export const TestDocument = typed<TestCaseDocument>()(
  z.looseObject(documentFields).meta({ id: "TestCaseDocument" }),
);
export type TestDocument = z.output<typeof TestDocument>;

export const ListedTest = typed<TestCase & { eligibility: Eligibility }>()(
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
