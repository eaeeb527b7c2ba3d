// Reads a trace by what its agent has chosen: its own rules first, then its conventions.
import type { ReadBy } from "../../model/agent/read-by.ts";
import type { ValueAllowance } from "../../model/json-text.ts";
import type { MergedTrace } from "../../model/trace/trace.ts";
import { readByConventions } from "./conventions.ts";
import type { ReadingDepth, TraceReading } from "./read-trace.ts";
import { applyRules, type Ruled } from "./rules.ts";

/** `trace`: with the attributes that rules gave. `reading`: null unless a convention recognizes a span. */
export type TraceRead = Ruled & { reading: TraceReading | null };

export function readTraceBy(
  trace: MergedTrace,
  { conventions, conventionRules, readFrom }: ReadBy,
  allowance?: ValueAllowance,
  depth?: ReadingDepth,
): TraceRead {
  const named = readFrom ? { ...trace, readFrom } : trace;
  const ruled = applyRules(named, conventionRules, allowance);
  // A rule may name a tool otherwise than messages do, which only the IDs of the calls tell.
  if (ruled.matches.some(spans => spans > 0)) depth = "all";
  const isStructure = trace.content !== undefined;
  return {
    ...ruled,
    reading: readByConventions(ruled.trace.spans, conventions, allowance, depth, isStructure),
  };
}
