// Reads counts from attributes of spans.

import type { Span } from "../../model/trace/trace.ts";
import { attributeOf } from "./conversation.ts";

/** A non-negative integer sent as a number or as decimal text; anything else counts as absent. */
export function wholeNumber(span: Span, attribute: string): number | null {
  const sent = attributeOf(span, attribute);
  const value = typeof sent === "string" && /^\d+$/.test(sent) ? Number(sent) : sent;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
