// How requests of ingestion end, in plain words: what each code means, and what to do about it.
import type { IngestionCode } from "../src/model/ingestion.ts";
import type { Word } from "./labels.ts";

export type Explained = {
  /** What was wrong. */
  why: string;
  /** What to do; absent where there is nothing to do. */
  remedy?: string;
};

/** Beside the code itself, which is what senders see. */
export function ingestionWord(code: IngestionCode): Word {
  if (code === "OK") return { text: "Accepted", icon: "check", tone: "good" };
  if (code === "PARTIAL") return { text: "Partly accepted", icon: "warning", tone: "warn" };
  return { text: "Rejected", icon: "cross", tone: "bad" };
}

export const explained: Record<IngestionCode, Explained> = {
  OK: { why: "Everything in the request was stored." },
  PARTIAL: {
    why: "Some of the request’s traces were stored and others refused.",
    remedy: "Each reason says what is wrong with the refused ones.",
  },
  VALIDATION_ERROR: {
    why: "The body does not have the expected shape, or is not JSON.",
    remedy:
      "The answer’s “issues” name the fields. A body has “spans” (each with span_id and name) or “resourceSpans” at its top.",
  },
  CUSTOM_API_PLATFORM_NOT_FOUND: {
    why: "The request names no agent that its key may write to.",
    remedy: "Send the agent’s id as “platformId”, with a key that may write to this agent.",
  },
  OTLP_SERVICE_NAME_REQUIRED: {
    why: "The export names no service: its resource has no service.name.",
    remedy: "Set OTEL_SERVICE_NAME where the exporter runs to the agent’s service name.",
  },
  OTLP_NO_SPANS: {
    why: "The export holds no span.",
    remedy: "Look whether a sampler or a filter takes the spans away before they are exported.",
  },
  OTLP_ID_INVALID: {
    why: "A span’s traceId, spanId or parentSpanId is missing, zero or not hexadecimal.",
    remedy:
      "Send hexadecimal ids: 32 characters for a traceId, 16 for a spanId. OTLP’s JSON has no base64 ids.",
  },
  OTLP_PROTOBUF_INVALID: {
    why: "The body is not the protobuf message that its Content-Type promises.",
    remedy: "Send JSON as application/json, and look whether something on the way changes the body.",
  },
  UNAUTHORIZED: {
    why: "The key ended while its trace was being stored.",
    remedy: "Send with a key that is neither revoked nor expired.",
  },
  EMAIL_NOT_VERIFIED: {
    why: "The email address of the account that owns this project is not verified.",
    remedy:
      "Open the link in the verification mail and confirm. Then send the same again: the key and any x-request-id stay as they are.",
  },
  FORBIDDEN: { why: "What was sent with may not do this.", remedy: "Send with a key of the project." },
  OTLP_PLATFORM_NOT_ALLOWED: {
    why: "The service name is an agent’s, but the key may not write to this agent.",
    remedy: "Send with a key that may, or make one.",
  },
  NOT_FOUND: { why: "What the request was about was deleted meanwhile.", remedy: "Send to another agent." },
  OTLP_PLATFORM_NOT_FOUND: {
    why: "No agent of this project has the service name that was sent.",
    remedy:
      "Make it an agent’s service name here, or set OTEL_SERVICE_NAME to one that an agent has. Capitals count.",
  },
  METHOD_NOT_ALLOWED: { why: "Traces are taken by POST alone.", remedy: "POST to /public/traces." },
  CONFLICT: { why: "The request contradicts what is stored.", remedy: "Send it again." },
  PAYLOAD_TOO_LARGE: {
    why: "The request holds more than 30 MB after decompression, or its trace has grown too large.",
    remedy: "Export smaller batches: 10 to 20 spans are a good size.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    why: "The Content-Type or Content-Encoding is not one that is read here.",
    remedy:
      "Send application/json or application/x-protobuf, plain or with gzip. OTLP over gRPC is not taken: set OTEL_EXPORTER_OTLP_PROTOCOL to http/protobuf.",
  },
  RATE_LIMITED: { why: "Too many requests came at once.", remedy: "Exporters send again by themselves." },
  INTERNAL: {
    why: "A fault of this service: the trace was not stored.",
    remedy: "The service’s log has the request id of the answer.",
  },
  UNAVAILABLE: {
    why: "The service could not store the trace at that moment.",
    remedy: "Exporters send it again by themselves; other senders should, after a second.",
  },
};
