// The conventions that an agent has chosen, by the names of their presets; "*" chooses all.
import { allConventions, type Conventions } from "../../model/agent/read-by.ts";
import type { ValueAllowance } from "../../model/json-text.ts";
import type { Span } from "../../model/trace/trace.ts";
import { openTelemetry } from "../presets/opentelemetry.ts";
import { presets, recognizer } from "../presets.ts";
import type { Preset } from "../span/reading.ts";
import { type ReadingDepth, readTrace, type TraceReading } from "./read-trace.ts";

export const conventionNames: readonly string[] = presets.map(({ name }) => name);

/** In the order of the table and each once, so that equal choices are equal lists. */
export function normalizedConventions(chosen: Conventions): string[] {
  if (chosen.includes(allConventions)) return [allConventions];
  return conventionNames.filter(name => chosen.includes(name));
}

/**
 * Null unless a chosen convention recognizes a span of the trace. `isStructure`: the trace is without content. Then a span that
 * has messages is recognized whatever wrote them: they are the calls that were kept (content/kept-calls.ts).
 */
export function readByConventions(
  spans: Span[],
  chosen: Conventions,
  allowance?: ValueAllowance,
  depth?: ReadingDepth,
  isStructure = false,
): TraceReading | null {
  if (chosen.length === 0) return null;
  const recognize = recognizerOf(chosen);
  return readTrace(spans, isStructure ? recognizingCalls(recognize) : recognize, allowance, depth);
}

function recognizingCalls(recognize: (span: Span) => Preset | null): (span: Span) => Preset | null {
  return span =>
    recognize(span) ?? (span.attributes["gen_ai.output.messages"] === undefined ? null : openTelemetry);
}

/** The conventions that recognize spans of the trace, in the order of the table, whatever is chosen. */
export function recognizedIn(spans: Span[]): string[] {
  const recognize = recognizerOf([allConventions]);
  const found = new Set(spans.map(span => recognize(span)?.name));
  return conventionNames.filter(name => found.has(name));
}

const recognizers = new Map<string, (span: Span) => Preset | null>();
/** Of choices that agents have; each remembers scopes. */
const recognizersMax = 100;

function recognizerOf(chosen: Conventions): (span: Span) => Preset | null {
  const key = chosen.join(" ");
  let recognize = recognizers.get(key);
  if (!recognize) {
    const isAll = chosen.includes(allConventions);
    recognize = recognizer(presets.filter(({ name }) => isAll || chosen.includes(name)));
    if (recognizers.size < recognizersMax) recognizers.set(key, recognize);
  }
  return recognize;
}
