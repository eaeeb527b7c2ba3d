// Compares the expected arguments of a tool call with the actual ones, leaf by leaf, for display.
import type { Evidence } from "../../../../src/model/run/run.ts";

/** `unrecorded`: the trace has no arguments of the call. */
export type ArgumentState = "equal" | "different" | "missing" | "unexpected" | "unrecorded";
/** `actual` is left out if there is nothing at the path or it is not known. */
export type ArgumentLine = { path: string; state: ArgumentState; expected?: unknown; actual?: unknown };

/** A difference that the evaluation stored: `actual` is left out if there is nothing at `path`. */
export type Difference = { path: string; expected: unknown; actual?: unknown };

/** One call, compared. */
export type ComparedCall = { spanId: string; lines: ArgumentLine[]; complete: boolean };

const worstFirst: ArgumentState[] = ["different", "missing", "unexpected", "unrecorded", "equal"];

/** The evaluation stores at most this many differences per call. */
const differencesMax = 10;
const callsMax = 3;
const linesMax = 30;

type ToolCallActual = {
  count?: number | null;
  differences?: { spanId: string; differences: Difference[] }[];
};

/**
 * The calls with the name: those that differ with their differences, else those that match. None if no call matches and the
 * differences went with the content.
 */
export function comparedCalls(
  expected: unknown,
  actual: ToolCallActual | null,
  evidence: Evidence[],
): ComparedCall[] {
  const argumentsOf = new Map(
    evidence
      .filter(({ attribute }) => attribute === "gen_ai.tool.call.arguments")
      .map(({ spanId, value }) => [spanId, value]),
  );
  const noted = actual?.differences ?? [];
  if (noted.length === 0 && actual?.count === 0) return [];
  const differing = new Map(noted.map(({ spanId, differences }) => [spanId, differences]));
  // Where some have differences, calls without any are those that match.
  const calls = new Set([...differing.keys(), ...argumentsOf.keys()]);
  return [...calls].slice(0, callsMax).map(spanId => {
    const differences = differing.get(spanId) ?? [];
    if (isUnrecorded(differences)) {
      return { spanId, lines: [{ path: "", state: "unrecorded", expected }], complete: true };
    }
    const lines = argumentLines(expected, differences, argumentsOf.get(spanId));
    return { spanId, lines: lines.slice(0, linesMax), complete: differences.length < differencesMax };
  });
}

/** Arguments that are not in the trace differ as a whole, as null. */
function isUnrecorded([first]: Difference[]): boolean {
  return first?.path === "" && first.actual === null;
}

/** The leaves of the expected value, those that differ first. Paths are in the notation of the evaluation. */
export function argumentLines(
  expected: unknown,
  differences: Difference[] = [],
  actual?: unknown,
): ArgumentLine[] {
  const noted = new Map(differences.map(difference => [difference.path, difference]));
  const lines: ArgumentLine[] = [];
  const walk = (value: unknown, path: string, found: unknown, isLiteral = false) => {
    if (!isLiteral && isFields(value, true) && "$literal" in value) {
      walk(value["$literal"], path, found, true);
      return;
    }
    const bare = path.replace(/^\./, "");
    const difference = noted.get(bare);
    if (difference) {
      noted.delete(bare);
      lines.push({ ...difference, state: "actual" in difference ? "different" : "missing" });
      return;
    }
    const steps = Array.isArray(value)
      ? value.map((item, at): Step => [`[${at}]`, item, undefined])
      : isFields(value, isLiteral)
        ? Object.keys(value).map((key): Step => [stepOf(key), value[key], ownOf(found, key)])
        : [];
    if (steps.length === 0) lines.push({ path: bare, state: "equal", expected: value, ...known(found) });
    for (const [step, item, below] of steps) walk(item, path + step, below, isLiteral);
  };
  walk(expected, "", actual);
  for (const { path, actual } of noted.values()) lines.push({ path, state: "unexpected", actual });
  return lines.sort((a, b) => worstFirst.indexOf(a.state) - worstFirst.indexOf(b.state));
}

type Step = [step: string, item: unknown, found: unknown];

/** An object that is no set of operators; those are leaves, except in a literal. */
function isFields(value: unknown, isLiteral: boolean): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(value);
  return keys.length > 0 && (isLiteral || !keys.every(key => key.startsWith("$")));
}

function stepOf(key: string): string {
  return /^[\w$]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function ownOf(found: unknown, key: string): unknown {
  return typeof found === "object" && found !== null && Object.hasOwn(found, key)
    ? (found as Record<string, unknown>)[key]
    : undefined;
}

function known(found: unknown): { actual?: unknown } {
  return found === undefined ? {} : { actual: found };
}
