// Reads counts from attributes of spans.
import { attributeOf } from "../conversation/conversation.ts";
import type { Span } from "./trace.ts";

/** A non-negative integer sent as a number or as decimal text; anything else counts as absent. */
export function wholeNumber(span: Span, attribute: string): number | null {
  const sent = attributeOf(span, attribute);
  const value = typeof sent === "string" && /^\d+$/.test(sent) ? Number(sent) : sent;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
