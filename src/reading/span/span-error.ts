// What a failed span says about its error: instrumentations leave the status without a message and write it elsewhere.

import { isRecord } from "../../model/record.ts";
import { storable } from "../../model/trace/storable.ts";
import type { Attributes, Span } from "../../model/trace/trace.ts";
import { attributeOf } from "./conversation.ts";

/** Null unless the status says that the span failed: an exception or an error attribute alone does not. Shortened. */
export function errorOf(span: Span): string | null {
  if (span.status?.code !== 2) return null;
  const { message } = span.status;
  const text = isText(message) ? message : (inException(span) ?? inAttributes(span));
  return text === undefined ? null : storable(text);
}

/** The last exception is the one that ended the span. */
function inException(span: Span): string | undefined {
  const event = span.events.findLast(one => isRecord(one) && one["name"] === "exception");
  const attributes = isRecord(event) && isRecord(event["attributes"]) ? event["attributes"] : {};
  return joined(attributes, "exception.type", "exception.message");
}

function inAttributes(span: Span): string | undefined {
  const observed = attributeOf(span, "langfuse.observation.status_message");
  return isText(observed) ? observed : joined(span.attributes, "error.type", "error.message");
}

function joined(attributes: Attributes, type: string, message: string): string | undefined {
  const texts = [attributes[type], attributes[message]].filter(isText);
  return texts.length > 0 ? texts.join(": ") : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && /\S/.test(value);
}
