// Estimates the cost of compiling a test case's patterns from their text: searching is linear, compiling is not.
import { step } from "../path.ts";
import type { Issue } from "../refusal.ts";
import { patternMax } from "./pattern.ts";
import { withPlainEscapes } from "./pattern-syntax.ts";

/** In instructions; a hundred take about a millisecond. */
const costMax = 50_000;

const message =
  "The patterns of this test take too long to compile. Use smaller counts, such as {1,50}, and fewer Unicode classes.";

/**
 * Reports the pattern that exceeds the limit of a test case. Reads a client's unvalidated input, at most 200 levels deep,
 * because it must run before anything is compiled.
 */
export function costIssues(assertions: unknown): Issue[] {
  if (!Array.isArray(assertions)) return [];
  let cost = 0;
  for (const { path, pattern } of assertions.flatMap((one, at) => patternsOf(one, `assertions[${at}]`))) {
    cost += patternCost(pattern);
    if (cost > costMax) return [{ path, message }];
  }
  return [];
}

/** A schema of this many characters takes as long to check as one instruction to compile. */
const schemaChars = 64;

/** What checking takes, in instructions. Reads unvalidated input as `costIssues` does. */
export function checkingCost(assertions: unknown): number {
  if (!Array.isArray(assertions)) return 0;
  return assertions.reduce((sum: number, one) => {
    const patterns = patternsOf(one, "").reduce((cost, { pattern }) => cost + patternCost(pattern), 0);
    const { schema = null } = (one ?? {}) as Record<string, unknown>;
    return sum + patterns + JSON.stringify(schema).length / schemaChars;
  }, 0);
}

type Written = { path: string; pattern: string };

/** The patterns of an assertion, of schemas and expected arguments too. */
export function patternsOf(assertion: unknown, path: string): Written[] {
  const { type, pattern, expected_arguments, schema } = (assertion ?? {}) as Record<string, unknown>;
  if (type === "response_regex")
    return typeof pattern === "string" ? [{ path: `${path}.pattern`, pattern }] : [];
  if (type === "json_schema") return schemaPatternsIn(schema, `${path}.schema`);
  return type === "tool_call" ? operandsIn(expected_arguments, `${path}.expected_arguments`) : [];
}

/** Wherever they are: what is a subschema is known only after its references are resolved. */
function schemaPatternsIn(schema: unknown, path: string): Written[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => {
    const at = path + step(Array.isArray(schema) ? Number(key) : key);
    if (key === "pattern" && typeof value === "string") return [{ path: at, pattern: value }];
    const names = key === "patternProperties" && typeof value === "object" ? Object.keys(value ?? {}) : [];
    return [...names.map(name => ({ path: at + step(name), pattern: name })), ...schemaPatternsIn(value, at)];
  });
}

function operandsIn(expected: unknown, path: string): Written[] {
  if (typeof expected !== "object" || expected === null) return [];
  return Object.entries(expected).flatMap(([key, value]) => {
    const at = path + step(Array.isArray(expected) ? Number(key) : key);
    if (key === "$literal") return [];
    return key === "$regex" && typeof value === "string"
      ? [{ path: at, pattern: value }]
      : operandsIn(value, at);
  });
}

// A quoted section, an escape, a class (also one without an end, so that no bracket is read twice), a count, a parenthesis, or
// any other character.
const steps =
  /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*(?:\]|\\?$)|\{(\d+)(?:,(\d*))?\}|[()]|./gs;
// The engine refuses higher counts.
const timesMax = 1_000;

/** Fixed cost of every pattern. */
const baseCost = 10;

/** Never much below the compiled instructions, or the equivalent in time. */
export function patternCost(pattern: string): number {
  // Too long, so it is never compiled.
  if (pattern.length > patternMax) return baseCost;
  const source = withPlainEscapes(pattern);
  const around: number[] = [];
  let [sum, last] = [baseCost, 0];
  for (const [step, least, most] of source.matchAll(steps)) {
    if (step === "(") {
      around.push(sum);
      sum = 0;
    } else if (step === ")") {
      last = sum + 2;
      sum = last + (around.pop() ?? 0);
    } else if (least !== undefined) {
      const times = Math.min(Math.max(Number(least), Number(most ?? 0), 1), timesMax);
      sum += last * (times - 1);
      last *= times;
    } else {
      last = step.startsWith("\\Q") ? step.length : 1;
      sum += last;
    }
  }
  return around.reduce((all, one) => all + one, sum) + classCost(source);
}

const propertyCost = 150;
/** With flag i each character of a range is looked up: this many take as long as one instruction. */
const rangeChars = 50;
/** The last code point with an upper and a lower case. */
const casedMax = 0x1e943;

function classCost(source: string): number {
  const properties = source.match(/\\p/gi)?.length ?? 0;
  const ends = Array.from(source.matchAll(/-(?:\\x\{([\da-f]+)\}|\\?(.))/gisu), ([, hex, character]) =>
    hex === undefined ? character!.codePointAt(0)! : Number.parseInt(hex, 16),
  );
  const chars = ends.reduce((sum, end) => sum + Math.min(end, casedMax), 0);
  return properties * propertyCost + Math.round(chars / rangeChars);
}
