// Says what an SDK left out of a span because of its own limits.
import type { SpanDetail } from "../../../../src/http/traces/schemas.ts";
import { numberText } from "../../../format.ts";

type Counts = Pick<
  SpanDetail["span"],
  "dropped_attributes_count" | "dropped_events_count" | "dropped_links_count"
>;

/** Null if the SDK dropped nothing. */
export function droppedText(span: Counts): string | null {
  const parts = [
    counted(span.dropped_attributes_count, "attribute"),
    counted(span.dropped_events_count, "event"),
    counted(span.dropped_links_count, "link"),
  ].filter(part => part !== null);
  if (parts.length === 0) return null;
  const list = parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts[0];
  return `The SDK dropped ${list} of this span because of its span limits.`;
}

function counted(count: number | undefined, noun: string): string | null {
  return count ? `${numberText(count)} ${noun}${count === 1 ? "" : "s"}` : null;
}
