// The valid fields of an invalid test case, so that all of its issues are found at once, not those of shape first.

import type { z } from "zod";
import { assertionInputSchema } from "./assertion.ts";
import type { TestCaseDocument } from "./document.ts";

type Schema = { safeParse(value: unknown): { success: boolean; data?: unknown } };
type Given = Record<string, unknown>;

type SoundParts = Omit<TestCaseDocument, "assertions"> & {
  assertions: z.infer<typeof assertionInputSchema>[];
};

/** Values that cause no issue of their own, in place of invalid ones. */
const harmless: Given = {
  name: "?",
  // Asks for nothing before the test can be active.
  status: "disabled",
  passiveBehavior: "manual_only",
  scenario: "?",
};

/**
 * Each valid field as it is, and something harmless in place of each invalid one. Lists keep their length and assertions
 * their place and ID. Undefined if the input is no object. `fields`: the schema of each field.
 */
export function soundParts(
  input: unknown,
  fields: Record<string, Schema>,
  listMax: { turns: number; inputs: number; assertions: number },
): SoundParts | undefined {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined;
  const given = input as Given;
  const sound: Given = {};
  for (const [name, schema] of Object.entries(fields)) {
    const read = schema.safeParse(given[name]);
    sound[name] = read.success ? read.data : harmless[name];
  }
  for (const name of ["turns", "inputs"] as const) {
    if (sound[name] === undefined && given[name] !== undefined) {
      sound[name] = asList(given[name], listMax[name]).map(() => ({ input: "?" }));
    }
  }
  if (given["assertions"] !== undefined) {
    sound["assertions"] = asList(given["assertions"], listMax.assertions).map(soundAssertion);
  }
  return sound as SoundParts;
}

/** What is no list counts as a list of one, which nothing is missing from. */
function asList(value: unknown, max: number): unknown[] {
  return Array.isArray(value) ? value.slice(0, max) : [undefined];
}

function soundAssertion(given: unknown): unknown {
  const read = assertionInputSchema.safeParse(named(given));
  if (read.success) return read.data;
  const { id, depends_on, turn } = (typeof given === "object" && given !== null ? given : {}) as Given;
  const common = { id, depends_on, turn };
  // Its ID, dependencies and turn are compared with those of the others, each if it is valid.
  for (const name of ["id", "depends_on", "turn"] as const) {
    if (common[name] === undefined || !placeholder({ [name]: common[name] }).success) delete common[name];
  }
  return placeholder(common).data;
}

function placeholder(common: Given) {
  return assertionInputSchema.safeParse({ ...common, type: "http_status", expected_status: "2xx" });
}

/** Fills empty names, so that they do not hide issues of a pattern or schema in the same assertion. */
function named(assertion: unknown): unknown {
  if (typeof assertion !== "object" || assertion === null) return assertion;
  const empty = ["expected_name", "target_node", "field"].filter(name => (assertion as Given)[name] === "");
  return { ...assertion, ...Object.fromEntries(empty.map(name => [name, "?"])) };
}
