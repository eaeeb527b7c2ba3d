// Says redacted places in words, as tooltips of the dashboard do: "Mail [redacted: email]".

const words: Record<string, string> = {
  pseudonym: "redacted: pseudonym of an ID",
  unchecked: "not stored: checking this text for private data took too long",
};

/** A text that was typed like a placeholder stays as it is. */
import type { PlacesOfRule } from "../model/redaction.ts";
export function redactedInWords(text: string, redactions: readonly PlacesOfRule[] = []): string {
  const all = redactions.flatMap(({ rule, places }) => places.map(([start, end]) => ({ rule, start, end })));
  all.sort((a, b) => a.start - b.start);
  let [out, from] = ["", 0];
  for (const { rule, start, end } of all) {
    // Behind the end: the text was shortened.
    if (start < from || end > text.length) continue;
    out += `${text.slice(from, start)}[${words[rule] ?? `redacted: ${rule}`}]`;
    from = end;
  }
  return out + text.slice(from);
}
