// What inputs suggest: names of spans, tools and attributes in the agent's latest traces.
import type { Term, Vocabulary } from "../src/http/test-cases/editor-schemas.ts";
import { counted } from "./labels.ts";
import type { Completion } from "./ui/Combobox.tsx";

export function spanNames(vocabulary: Vocabulary | undefined): Completion[] {
  return (vocabulary?.spans ?? []).map(({ name, count }) => ({ value: name, note: counted(count, "span") }));
}

export function toolNames(vocabulary: Vocabulary | undefined): Completion[] {
  return (vocabulary?.tools ?? []).map(({ name, count }) => ({ value: name, note: counted(count, "call") }));
}

/** The attributes of the spans that match the target, or of all spans if none match; each key once. */
export function attributesOf(vocabulary: Vocabulary | undefined, target: unknown): Term[] {
  const spans = vocabulary?.spans ?? [];
  const sought = typeof target === "string" ? target.toLowerCase() : "";
  const matching = spans.filter(({ name }) => name.toLowerCase().includes(sought));
  const terms = new Map<string, Term>();
  for (const term of (matching.length > 0 ? matching : spans).flatMap(({ attributes }) => attributes)) {
    if (!terms.has(term.key)) terms.set(term.key, term);
  }
  return [...terms.values()];
}

/** The same, each with an example of its value. */
export function attributeKeys(vocabulary: Vocabulary | undefined, target?: unknown): Completion[] {
  return attributesOf(vocabulary, target).map(({ key, samples: [sample] }) => ({
    value: key,
    note: sample === undefined ? undefined : JSON.stringify(sample),
  }));
}
