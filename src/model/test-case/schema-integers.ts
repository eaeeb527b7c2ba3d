// Integers beyond ±(2^53−1) in JSON Schemas: stored as decimal text, as everywhere in a test, but meant as integers.
import { isLongInteger } from "../long-integers.ts";
import { isRecord } from "../record.ts";

/** Keywords whose value can only be a number. */
const numeric = new Set([
  "maximum",
  "minimum",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "multipleOf",
  "maxLength",
  "minLength",
  "maxItems",
  "minItems",
  "maxContains",
  "minContains",
  "maxProperties",
  "minProperties",
]);

/** The schema as meta-schemas know it: with numbers where only numbers are allowed. */
export function withNumbers(schema: unknown): unknown {
  return rewritten(schema, (key, value) =>
    numeric.has(key) && isLongInteger(value) ? [key, Number(value)] : undefined,
  );
}

/**
 * The schema to validate with: its limits are bigints, which compare exactly with numbers. `const` and `enum` allow an
 * integer as well as its text, since nothing tells which was meant.
 */
export function withIntegers(schema: unknown): unknown {
  return rewritten(schema, (key, value, { enum: listed }) => {
    if (key === "enum" && Array.isArray(value)) return [key, value.flatMap(formsOf)];
    if (!isLongInteger(value)) return undefined;
    if (key === "const" && listed === undefined) return ["enum", formsOf(value)];
    if (key === "multipleOf") return [key, Number(value)];
    return numeric.has(key) ? [key, BigInt(value)] : undefined;
  });
}

function formsOf(value: unknown): unknown[] {
  return isLongInteger(value) ? [value, Number(value)] : [value];
}

type Rewrite = (
  key: string,
  value: unknown,
  holder: Record<string, unknown>,
) => [string, unknown] | undefined;

function rewritten(value: unknown, rewrite: Rewrite): unknown {
  if (Array.isArray(value)) return value.map(item => rewritten(item, rewrite));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, inner]) => rewrite(key, inner, value) ?? [key, rewritten(inner, rewrite)]),
  );
}
