// The conversation or user of a trace that conventions read: under the first key that any span has, if spans agree on it.
import type { Preset, ReadSpan, Sourced } from "../span/reading.ts";
import { isRuled } from "../span/sources.ts";
import { standard } from "../span/table-of-attributes.ts";

type IdKind = "conversationId" | "userId";

const documented = { conversationId: "gen_ai.conversation.id", userId: "user.id" } as const;

/** `presets`: those that recognize the spans. If rules gave some spans the id, only those count. */
export function agreedId(
  reads: ReadSpan[],
  presets: Iterable<Preset | null>,
  kind: IdKind,
): Sourced<string> | null {
  const ruled = reads.filter(({ span }) => span.translated && isRuled(span, documented[kind]));
  const first = idsOf(ruled.length > 0 ? ruled : reads, read => read[kind]);
  if (first.size <= 1 || ruled.length > 0) return onlyOne(first);
  const byKey = reads.map(read => read.idsByKey(kind));
  for (const key of keysOf(presets, kind)) {
    const found = idsOf(byKey, ids => ids.get(key) ?? null);
    if (found.size > 0) return onlyOne(found);
  }
  return null;
}

function idsOf<T>(from: T[], idOf: (one: T) => Sourced<string> | null): Map<string, Sourced<string>> {
  const ids = new Map<string, Sourced<string>>();
  for (const one of from) {
    const id = idOf(one);
    if (id && !ids.has(id.value)) ids.set(id.value, id);
  }
  return ids;
}

function onlyOne(ids: Map<string, Sourced<string>>): Sourced<string> | null {
  const [id] = ids.values();
  return id && ids.size === 1 ? id : null;
}

/** Keys of presets, then the documented ones. */
function keysOf(presets: Iterable<Preset | null>, kind: IdKind): Set<string> {
  const keys = new Set<string>();
  for (const preset of new Set(presets)) {
    const all = preset?.ids[kind === "userId" ? "user" : "conversation"] ?? [];
    for (const key of all.slice(0, -standard[kind].length)) keys.add(key);
  }
  for (const key of standard[kind]) keys.add(key);
  return keys;
}
