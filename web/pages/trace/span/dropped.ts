// Says what an SDK left out of a span, its events and links, its scope and its resource because of its own limits.
import type { SpanDetail } from "../../../../src/http/traces/schemas.ts";
import { numberText } from "../../../format.ts";
import { isRecord } from "../../../record.ts";

type Counts = Pick<
  SpanDetail["span"],
  | "dropped_attributes_count"
  | "dropped_events_count"
  | "dropped_links_count"
  | "scope"
  | "resource_dropped_attributes_count"
> & { events?: unknown[]; links?: unknown[] };

/** Null if the SDK dropped nothing. */
export function droppedText(span: Counts): string | null {
  const { events = [], links = [] } = span;
  const parts = [
    placed("this span", [
      countedIfAny(span.dropped_attributes_count, "attribute"),
      countedIfAny(span.dropped_events_count, "event"),
      countedIfAny(span.dropped_links_count, "link"),
    ]),
    placed("its events", [countedIfAny(sumOf(events), "attribute")]),
    placed("its links", [countedIfAny(sumOf(links), "attribute")]),
    placed("its scope", [countedIfAny(span.scope?.dropped_attributes_count, "attribute")]),
    placed("its resource", [countedIfAny(span.resource_dropped_attributes_count, "attribute")]),
  ].filter(part => part !== null);
  return parts.length === 0 ? null : `The SDK dropped ${listed(parts)} because of its limits.`;
}

/** The attributes that the SDK dropped from one event or link; 0 if none. Both are stored unchecked. */
export function droppedAttributes(one: unknown): number {
  const count = isRecord(one) ? one["dropped_attributes_count"] : 0;
  return typeof count === "number" ? count : 0;
}

export function countedIfAny(count: number | undefined, noun: string): string | null {
  return count ? `${numberText(count)} ${noun}${count === 1 ? "" : "s"}` : null;
}

function placed(place: string, counts: (string | null)[]): string | null {
  const some = counts.filter(text => text !== null);
  return some.length === 0 ? null : `${listed(some)} of ${place}`;
}

function listed(parts: string[]): string {
  return parts.length > 1 ? `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}` : parts[0]!;
}

const sumOf = (all: unknown[]) => all.reduce<number>((sum, one) => sum + droppedAttributes(one), 0);
