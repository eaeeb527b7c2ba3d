// How requests name conventions: a list of names, or ["*"].
import { z } from "zod";
import { allConventions, conventionNames, normalizedConventions } from "../model/conventions/conventions.ts";

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
