// Which setting of an SDK makes it write messages, for traces that arrive without any.
import type { Span } from "../trace/trace.ts";
import { presets, recognizer } from "./presets.ts";

/** How an SDK is told to write messages. */
export type ContentSwitch = {
  /** What writes the spans, where the convention's title does not say it. */
  of?: string;
  /** Its instrumentation scopes; absent: every span of the convention. */
  scope?: RegExp;
  /** When it writes messages, in sentences. */
  says: string;
  /** What to set, exactly: environment variables or code. */
  lines?: string[];
  /** Whether it may write messages as log records, which are exported separately. */
  logRecords?: boolean;
};

/** As shown: with what writes the spans, and the name of its convention. */
export type ShownSwitch = {
  convention: string;
  writtenBy: string;
  text: string;
  lines: string[];
  logRecords: boolean;
};

const recognize = recognizer(presets);

/** Of everything that wrote an agent or a call of a model in the trace, each once; only what is known. */
export function contentSwitchesIn(spans: Span[]): ShownSwitch[] {
  const found = new Map<ContentSwitch, ShownSwitch>();
  for (const span of spans) {
    const preset = recognize(span);
    const one = preset?.contentSwitches.find(
      ({ scope }) => scope === undefined || scope.test(span.scope?.name ?? ""),
    );
    if (!preset || !one || found.has(one)) continue;
    const { role } = preset.read(span);
    if (role === "model" || role === "agent") found.set(one, shownSwitch(preset, one));
  }
  // In the order of the table, whatever the order of the spans.
  return allSwitches.flatMap(one => found.get(one) ?? []);
}

export function shownSwitch(
  { name, title }: { name: string; title: string },
  { of = title, says, lines = [], logRecords = false }: ContentSwitch,
): ShownSwitch {
  return { convention: name, writtenBy: of, text: says, lines, logRecords };
}

const allSwitches = [...new Set(presets.flatMap(({ contentSwitches }) => contentSwitches))];
