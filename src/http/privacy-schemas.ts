// The schemas of a project's privacy settings, of their trial on past traces, and of its pseudonym key.

import { z } from "zod";
import { builtInRules, ownRulesMax, type RuleCounts } from "../model/redaction.ts";
import { patternMax } from "../model/test-case/pattern.ts";
import { ExactText, Id, Time, typed } from "./frame/schemas.ts";

const nameOfRule = z.enum([...builtInRules, "*"], {
  error: `Must be one of ${builtInRules.join(", ")}, or * for all.`,
});
const builtIn = z.array(nameOfRule).max(builtInRules.length + 1);

const OwnRule = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9_-]{1,32}$/, "A name has 1 to 32 of the characters a-z, 0-9, _ and -.")
    .describe("What it finds becomes this name in brackets. None of the built-in names."),
  pattern: ExactText(patternMax).describe("A regular expression, as in response_regex."),
  flags: z
    .string()
    .regex(/^(?:i?m?s?|i?s?m?|m?i?s?|m?s?i?|s?i?m?|s?m?i?)$/, "Must be any of i, m and s, each once.")
    .optional()
    .describe("Any of i, m and s."),
});

const attributeKey = ExactText(200).refine(
  key => key !== "service.name",
  "service.name tells which agent sent a trace, and stays as it was sent.",
);

/** The settings that change what is stored. */
const storing = {
  builtIn: builtIn.default([]).describe("Built-in rules; `*`: all."),
  rules: z.array(OwnRule).max(ownRulesMax).default([]).describe("The project's own rules."),
  pseudonyms: z
    .array(attributeKey)
    .max(50)
    .meta({ uniqueItems: true })
    .default([])
    .describe("Attributes whose values become pseudonyms: `p_` and a keyed hash."),
};

export const PrivacyRules = z.strictObject(storing);

export const PrivacyInput = z.strictObject({
  ...storing,
  judgeRules: builtIn.default([]).describe("Built-in rules for what the judge is sent; `*`: all."),
  judgeSeesToolResults: z.boolean().default(true).describe("Whether the judge is sent results of tools."),
});

export const Privacy = z
  .object({
    builtIn: z.array(z.string()),
    rules: z.array(z.object({ name: z.string(), pattern: z.string(), flags: z.string().optional() })),
    pseudonyms: z.array(z.string()),
    judgeRules: z.array(z.string()),
    judgeSeesToolResults: z.boolean(),
  })
  .meta({ id: "Privacy" });
export type Privacy = z.output<typeof Privacy>;

export const PseudonymKey = z
  .object({
    createdAt: Time.nullable().describe("Null: none is made before the first rule is saved."),
    readable: z.boolean().describe("False: it was encrypted with another key of the service."),
  })
  .meta({ id: "PseudonymKey" });
export type PseudonymKey = z.output<typeof PseudonymKey>;

const RedactionIn = z.enum(["attributes", "events", "resource", "scope", "status", "metadata", "log"]);

/** What was redacted in a trace. Not a record: zod would copy it without its key `__proto__`. */
export const Redactions = typed<RuleCounts>()(
  z
    .unknown()
    .meta({ type: "object", additionalProperties: { type: "integer" } })
    .describe(
      "How many values each privacy rule redacted before the trace was stored, by its name: in its texts, `⟦name⟧` stands for each. `pseudonym`: a keyed hash (`p_…`); `unchecked`: a text that took too long to check, stored as `[unchecked]`.",
    ),
);

export const PrivacyPreview = z
  .object({
    traces: z.number().int().describe("How many of the latest traces of the project were read."),
    skipped: z.number().int().describe("Those that were too large, or for which there was no time."),
    changed: z.number().int().describe("The traces that the rules would have changed."),
    values: z.number().int().describe("The values that they would have changed."),
    rules: z
      .array(
        z.object({
          rule: z.string(),
          values: z.number().int(),
          traces: z.number().int(),
          examples: z
            .array(
              z.object({
                traceId: Id,
                agentId: Id,
                spanId: z.string().nullable(),
                in: RedactionIn,
                path: z.string(),
              }),
            )
            .describe("Where the first few of them are."),
        }),
      )
      .describe("Every rule that was tried, also those that found nothing."),
  })
  .meta({ id: "PrivacyPreview" });
export type PrivacyPreview = z.output<typeof PrivacyPreview>;
