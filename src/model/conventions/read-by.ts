// Reads a trace by what its agent has chosen: its own rules first, then its conventions.
import type { ValueAllowance } from "../json-text.ts";
import type { MergedTrace } from "../trace/trace.ts";
import { readByConventions, sameConventions } from "./conventions.ts";
import type { ReadingDepth, TraceReading } from "./read-trace.ts";
import { applyRules, type ConventionRule, type Ruled, sameRules } from "./rules.ts";

/** What an agent's traces are read by, beside the documented attributes. */
export type ReadBy = { conventions: string[]; conventionRules: ConventionRule[] };

export const readByNothing: ReadBy = { conventions: [], conventionRules: [] };

/** `trace`: with the attributes that rules gave. `reading`: null unless a convention recognizes a span. */
export type TraceRead = Ruled & { reading: TraceReading | null };

export function readTraceBy(
  trace: MergedTrace,
  { conventions, conventionRules }: ReadBy,
  allowance?: ValueAllowance,
  depth?: ReadingDepth,
): TraceRead {
  const ruled = applyRules(trace, conventionRules, allowance);
  // A rule may name a tool otherwise than messages do, which only the IDs of the calls tell.
  if (ruled.matches.some(spans => spans > 0)) depth = "all";
  const isStructure = trace.content !== undefined;
  return {
    ...ruled,
    reading: readByConventions(ruled.trace.spans, conventions, allowance, depth, isStructure),
  };
}

export function sameReadBy(one: ReadBy, other: ReadBy): boolean {
  return (
    sameConventions(one.conventions, other.conventions) &&
    sameRules(one.conventionRules, other.conventionRules)
  );
}
