// Says what is wrong with a value that does not match a JSON Schema, in sentences of our own.
import type { OutputUnit } from "@cfworker/json-schema";
import { isRecord } from "../../model/record.ts";
import type { Schema } from "../../model/test-case/schema-references.ts";

const sentenceMax = 300;
const listedMax = 200;

/** What the fault is about: the schema with the targets of its references, and the value. */
export type Validated = { schema: unknown; targets: Map<Schema, unknown>; value: unknown };

/** Such as `items/1: Expected integer, found text.`; begins with "value" for the whole value. */
export function faultText({ keyword, keywordLocation, instanceLocation }: OutputUnit, of: Validated): string {
  const limit = keyword === "false" ? undefined : keywordAt(keywordLocation, of);
  const found = stepsOf(instanceLocation).reduce(memberOf, of.value);
  const where = stepsOf(instanceLocation).join("/") || "value";
  // A shortened list ends in an ellipsis, and the sentence with it.
  const sentence = sentenceOf(keyword, limit, found).replace(/…\.$/, "…");
  return shortened(`${where}: ${sentence}`, sentenceMax);
}

function sentenceOf(keyword: string, limit: unknown, found: unknown): string {
  switch (keyword) {
    case "type":
      return `Expected ${[limit].flat().join(" or ")}, found ${typeOf(found)}.`;
    case "const":
      return `Must be ${listed(limit)}.`;
    case "enum":
      return `Must be one of ${listed(limit)}.`;
    case "required":
    case "dependentRequired":
      return `Missing: ${missing(limit, found) || "a required property"}.`;
    case "false":
      return "Is not allowed here.";
    case "minimum":
      return `Must be at least ${limit}.`;
    case "maximum":
      return `Must be at most ${limit}.`;
    case "exclusiveMinimum":
      return `Must be greater than ${limit}.`;
    case "exclusiveMaximum":
      return `Must be less than ${limit}.`;
    case "multipleOf":
      return `Must be a multiple of ${limit}.`;
    case "minLength":
      return `Must have at least ${limit} characters.`;
    case "maxLength":
      return `Must have at most ${limit} characters.`;
    case "minItems":
      return `Must have at least ${limit} items.`;
    case "maxItems":
      return `Must have at most ${limit} items.`;
    case "minProperties":
      return `Must have at least ${limit} properties.`;
    case "maxProperties":
      return `Must have at most ${limit} properties.`;
    case "pattern":
      return `Must match the pattern ${listed(limit)}.`;
    case "format":
      return `Must have the format ${listed(limit)}.`;
    case "uniqueItems":
      return "Has the same item twice.";
    case "anyOf":
      return "Matches none of the schemas in anyOf.";
    case "oneOf":
      return "Must match exactly one of the schemas in oneOf.";
    case "not":
      return "Must not match the schema in not.";
    default:
      return `Does not match ${keyword}.`;
  }
}

/** The keyword's value. The location follows references: `#/properties/a/$ref/type`. */
function keywordAt(location: string, { schema, targets }: Validated): unknown {
  return stepsOf(location).reduce<unknown>(
    (at, step) => (step === "$ref" && isRecord(at) && targets.has(at) ? targets.get(at) : memberOf(at, step)),
    schema,
  );
}

function memberOf(value: unknown, key: string): unknown {
  const isMember = typeof value === "object" && value !== null && Object.hasOwn(value, key);
  return isMember ? (value as Record<string, unknown>)[key] : undefined;
}

/** The steps of a location as the library writes it. */
function stepsOf(location: string): string[] {
  return location
    .split("/")
    .slice(1)
    .map(step => decoded(step).replaceAll("~1", "/").replaceAll("~0", "~"));
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function missing(required: unknown, found: unknown): string {
  if (!Array.isArray(required) || !isRecord(found)) return "";
  return required
    .filter(name => !Object.hasOwn(found, name))
    .map(name => JSON.stringify(name))
    .join(", ");
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function listed(value: unknown): string {
  // Integers beyond ±(2^53−1) are listed as text, too, with all their digits.
  const text = Array.isArray(value)
    ? value
        .filter(item => !Number.isInteger(item) || Number.isSafeInteger(item))
        .map(item => JSON.stringify(item))
        .join(", ")
    : JSON.stringify(value);
  return shortened(text ?? "a fixed value", listedMax);
}

function shortened(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
