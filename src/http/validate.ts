// Checks requests against their schemas, and names each fault in the notation of JavaScript.
import type { FastifySchemaCompiler } from "fastify";
import { z } from "zod";
import { pathText } from "../model/path.ts";
import { type Issue, Refusal } from "../model/refusal.ts";

/** For `setValidatorCompiler`: a fault is a VALIDATION_ERROR with its issues. */
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

// U+0000 has no place in a text column, and a lone surrogate would be stored as another character.
const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed();
const storableRule = "Must not hold U+0000 or half of a character.";

/** A name that people give: trimmed, 1 to 200 characters. */
export const Name = z.string().trim().min(1).max(200).refine(isStorable, storableRule);

/** A text that is kept exactly as it is given: 1 to 255 characters. */
export const ExactName = z.string().min(1).max(255).refine(isStorable, storableRule);

/** A day of UTC, as in 2026-01-31; far from where calendars and databases disagree. */
export const Day = z.iso
  .date("Must be a day, as in 2026-01-31.")
  .refine(day => day >= "2000-01-01", "Must not be before 2000-01-01.");

/** An id in a body or a reply, in lower case as the database writes it. */
export const Id = z.guid().toLowerCase();
