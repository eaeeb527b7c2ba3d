// How requests say what traces are read by: the names of conventions, or ["*"], and rules.

import { z } from "zod";
import {
  allConventions,
  normalizedRules,
  rulesMax,
  ruleTargets,
  textOfRules,
} from "../model/agent/read-by.ts";
import { conventionNames, normalizedConventions } from "../reading/conventions/conventions.ts";
import { ExactText } from "./frame/schemas.ts";

const known = `Known conventions: ${conventionNames.join(", ")}, or ${allConventions} for all.`;

const Convention = z
  .string()
  .refine(name => name === allConventions || conventionNames.includes(name), { error: known })
  .meta({ enum: [...conventionNames, allConventions] });

/** In the order of the table, each once. */
export const Conventions = z
  .array(Convention)
  .max(100)
  .transform(normalizedConventions)
  .describe("Names of conventions, or `*` for all. Empty: only the documented attributes are read.");

/** In a query: separated by commas. */
export const ConventionList = z
  .string()
  .max(2_000)
  .default(allConventions)
  .transform(text => text.split(",").filter(name => name !== ""))
  .pipe(z.array(Convention).min(1))
  .transform(normalizedConventions)
  .meta({ type: "string", description: "Names of conventions, separated by commas, or `*` for all." });

const listPrefix = /^[^*]+\.\*$/;

const Rule = z
  .object({
    from: ExactText(200)
      .refine(from => !from.includes("*") || listPrefix.test(from), {
        error: "`*` is allowed only at the end, after a dot: `app.messages.*`.",
      })
      .meta({ pattern: "^[^\\x00*]*([^\\x00*]\\.\\*)?$" })
      .describe("An attribute of the span; with `.*` at the end, a list flattened into attributes."),
    to: z
      .enum(ruleTargets, {
        error: `Attributes that a rule can give: ${ruleTargets.join(", ")}.`,
      })
      .describe("The documented attribute that it is read as."),
    spanName: ExactText(200)
      .optional()
      .describe("The span's exact name, or with `*` at the end its beginning. Absent: any span."),
  })
  .refine(({ from, to }) => from !== to, { path: ["from"], error: "This attribute is read already." })
  .meta({ id: "ConventionRule" });

/** In the order in which they are tried. */
export const ConventionRules = z
  .array(Rule)
  .max(rulesMax)
  .superRefine((rules, context) => {
    const seen = new Map<string, number>();
    for (const [at, rule] of rules.entries()) {
      const text = textOfRules([rule]);
      const first = seen.get(text);
      if (first === undefined) seen.set(text, at);
      else context.addIssue({ code: "custom", path: [at], message: `Same as rule ${first + 1}.` });
    }
  })
  .transform(normalizedRules)
  .meta({ uniqueItems: true })
  .describe("Own rules: attributes that are read as documented ones, before conventions. At most 50.");
