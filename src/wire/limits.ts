// Limits of one request body besides its size of 30 MB, and the Refusals for exceeding them.
import { Refusal } from "../model/refusal.ts";

export type DecodeLimits = {
  /** Levels of objects and lists in JSON, of messages in protobuf. Deeper is 400. */
  nestingMax: number;
  /** Spans or log records in one request, as sent. More is 413. */
  spansMax: number;
  /** Traces in one OTLP request. More is 413. */
  tracesMax: number;
  /** Values in one request: JSON objects, lists and commas; protobuf messages. More is 413. */
  elementsMax: number;
};

/**
 * Defaults. Requests of real exporters contain one element per 13 to 25 bytes, so 30 MB of them pass. The heap that the
 * costliest bodies within these limits need is measured in threads/heap.ts.
 */
export const decodeLimits: DecodeLimits = {
  nestingMax: 200,
  spansMax: 100_000,
  // Above the Collector's batch of 8,192 spans, each of which may be a trace of its own.
  tracesMax: 10_000,
  elementsMax: 2_000_000,
};

/** A body is beyond one of the limits that it was read with. */
export class BeyondLimits extends Refusal {}

export function tooDeep(limits: DecodeLimits): Refusal {
  return new BeyondLimits("VALIDATION_ERROR", {
    message: `The body is nested deeper than ${limits.nestingMax} levels.`,
    hint: "Send deeply structured payloads as JSON text in one attribute.",
  });
}

export function tooManySpans(limits: DecodeLimits): Refusal {
  return new BeyondLimits("PAYLOAD_TOO_LARGE", {
    message: `The body contains more than ${limits.spansMax} spans.`,
    hint: "Split the spans across several requests.",
  });
}

export function tooManyRecords(limits: DecodeLimits): Refusal {
  return new BeyondLimits("PAYLOAD_TOO_LARGE", {
    message: `The body contains more than ${limits.spansMax} log records.`,
    hint: "Split the log records across several requests.",
  });
}

export function tooManyServices(limits: DecodeLimits): Refusal {
  return new BeyondLimits("PAYLOAD_TOO_LARGE", {
    message: `The body contains the log records of more than ${limits.tracesMax} services.`,
    hint: "Split the log records across several requests.",
  });
}

export function tooManyTraces(limits: DecodeLimits): Refusal {
  return new BeyondLimits("PAYLOAD_TOO_LARGE", {
    message: `The body contains more than ${limits.tracesMax} traces.`,
    hint: "Split the traces across several requests, such as by a smaller send_batch_max_size of the Collector.",
  });
}

export function tooManyElements(limits: DecodeLimits): Refusal {
  return new BeyondLimits("PAYLOAD_TOO_LARGE", {
    message: `The body contains more than ${limits.elementsMax} values.`,
    hint: "Split the spans across several requests, or send large structures as JSON text in one attribute.",
  });
}

export function tooMuchRepeated(bytesMax: number): Refusal {
  return new Refusal("PAYLOAD_TOO_LARGE", {
    message: `Scopes and resources repeated by spans add up to more than ${Math.floor(bytesMax / 1024 / 1024)} MB.`,
    hint: "Split the spans across several requests, or shorten the attributes of the resource or scope.",
  });
}
