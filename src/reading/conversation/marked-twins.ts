// Pairs the entries of a transcript with those of its copy in which redacted places are marked.
import { unmark } from "../marks.ts";
import { type Entry, sourcedText } from "./transcript-entry.ts";

/**
 * By entry of the transcript. The copy may have more entries: a message that repeats a typed `[email]` where another was
 * redacted is the same message, and not the same marked one.
 */
export function twinsOf(entries: Entry[], marked: Entry[]): Map<Entry, Entry> {
  const twins = new Map<Entry, Entry>();
  if (marked.length === 0) return twins;
  const texts = marked.map(entry => unmark(textOf(entry)).text);
  let next = 0;
  for (const entry of entries) {
    const at = texts.indexOf(textOf(entry), next);
    if (at < 0) continue;
    twins.set(entry, marked[at]!);
    next = at + 1;
  }
  return twins;
}

function textOf(entry: Entry): string {
  const { spanId, attribute, event } = entry;
  const texts: (string | null | undefined)[] =
    entry.kind === "message"
      ? [entry.role, ...entry.pieces.map(piece => ("text" in piece ? piece.text : piece.name))]
      : [
          entry.name,
          entry.arguments && sourcedText(entry.arguments),
          entry.result && sourcedText(entry.result),
          entry.error,
        ];
  return [entry.kind, spanId, attribute, event, ...texts].join("\0");
}
