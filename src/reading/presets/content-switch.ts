// Which setting of an SDK makes it write messages, for traces that arrive without any.

import type { ShownSwitch } from "../../model/trace/shown.ts";
import type { Span } from "../../model/trace/trace.ts";
import { presets, recognizer } from "../presets.ts";
import type { ContentSwitch } from "../span/reading.ts";

const recognize = recognizer(presets);

/** Of everything that wrote an agent or a call of a model in the trace, each once; only what is known. */
export function contentSwitchesIn(spans: Span[]): ShownSwitch[] {
  const found = new Map<ContentSwitch, ShownSwitch>();
  for (const span of spans) {
    const preset = recognize(span);
    const one = preset?.contentSwitches.find(
      ({ scope, mark }) =>
        (scope === undefined || scope.test(span.scope?.name ?? "")) &&
        (mark === undefined || Object.hasOwn(span.attributes, mark)),
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
