// Validates requests against their schemas and reports issues with JS paths (`a.b[0]`).
import type { FastifySchemaCompiler } from "fastify";
import type { z } from "zod";
import { pathText } from "../../model/path.ts";
import { type Issue, Refusal } from "../../model/refusal.ts";

/** For `setValidatorCompiler`: an invalid request is a VALIDATION_ERROR with its issues. */
export const validate: FastifySchemaCompiler<z.ZodType> =
  ({ schema }) =>
  data => {
    const { success, data: value, error } = schema.safeParse(data);
    if (success) return { value };
    return { error: new Refusal("VALIDATION_ERROR", { issues: error.issues.map(toIssue) }) };
  };

function toIssue(issue: z.core.$ZodIssue): Issue {
  return { path: pathText(issue.path), message: issue.message };
}
