// How much one request body may hold beyond its 30 MB, and what it is told when it holds more (A11).
import { Refusal } from "../model/refusal.ts";

export type DecodeLimits = {
  /** Levels of objects and lists in JSON, of messages in protobuf. Deeper is 400. */
  nestingMax: number;
  /** Spans in one request, as sent. More is 413. */
  spansMax: number;
  /** Values in one request: JSON objects, lists and commas; protobuf messages. More is 413. */
  elementsMax: number;
};

/**
 * What holds when nothing is configured. Of the hostile bodies of up to 30 MB that were measured against it, the
 * costliest made the thread that decoded it grow by 500 MB and took 4 s (two million escaped keys in one object),
 * others at the limit by 50 to 320 MB; most are refused within 0.1 s. Requests of real exporters hold one element
 * to 13 to 25 bytes.
 */
export const decodeLimits: DecodeLimits = { nestingMax: 200, spansMax: 100_000, elementsMax: 2_000_000 };

export function tooDeep(limits: DecodeLimits): Refusal {
  return new Refusal("VALIDATION_ERROR", {
    message: `The body is nested deeper than ${limits.nestingMax} levels.`,
    hint: "Send deeply structured payloads as JSON text in one attribute.",
  });
}

export function tooManySpans(limits: DecodeLimits): Refusal {
  return new Refusal("PAYLOAD_TOO_LARGE", {
    message: `The body holds more than ${limits.spansMax} spans.`,
    hint: "Split the spans over several requests.",
  });
}

export function tooManyElements(limits: DecodeLimits): Refusal {
  return new Refusal("PAYLOAD_TOO_LARGE", {
    message: `The body holds more than ${limits.elementsMax} values.`,
    hint: "Split the spans over several requests, or send large structures as JSON text in one attribute.",
  });
}
