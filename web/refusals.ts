// Explains each result code of ingestion requests: what happened and how to fix it.
import type { IngestionCode } from "../src/model/ingestion.ts";
import type { Word } from "./labels.ts";

export type Explained = {
  /** What happened. */
  why: string;
  /** How to fix it, if there is anything to fix. */
  remedy?: string;
};

/** Shown beside the code, which senders see. */
export function ingestionWord(code: IngestionCode): Word {
  if (code === "OK") return { text: "Accepted", icon: "check", tone: "good" };
  if (code === "PARTIAL") return { text: "Partly accepted", icon: "warning", tone: "warn" };
  return { text: "Rejected", icon: "cross", tone: "bad" };
}

export const explained: Record<IngestionCode, Explained> = {
  OK: { why: "Everything in the request was stored." },
  PARTIAL: {
    why: "Some traces of the request were stored, others rejected.",
    remedy: "The reasons say why the others were rejected.",
  },
  VALIDATION_ERROR: {
    why: "The body does not have the expected shape, or is not JSON.",
    remedy:
      "See “issues” in the response. The body needs “spans” (each with span_id and name) or “resourceSpans” at the top level.",
  },
  CUSTOM_API_PLATFORM_NOT_FOUND: {
    why: "The request names no agent that the key can write to.",
    remedy: "Send the agent ID as “platformId”, with a key that can write to it.",
  },
  OTLP_SERVICE_NAME_REQUIRED: {
    why: "The resource has no service.name.",
    remedy: "Set OTEL_SERVICE_NAME to the agent’s service name where the exporter runs.",
  },
  OTLP_NO_SPANS: {
    why: "The export contains no spans.",
    remedy: "Check whether a sampler or filter drops spans before export.",
  },
  OTLP_ID_INVALID: {
    why: "A span’s traceId, spanId or parentSpanId is missing, zero or not hexadecimal.",
    remedy:
      "Send hexadecimal ids: 32 characters for a traceId, 16 for a spanId. OTLP JSON does not use base64 ids.",
  },
  OTLP_PROTOBUF_INVALID: {
    why: "The body is not valid protobuf, despite its Content-Type.",
    remedy: "Send JSON as application/json, and check whether a proxy changes the body.",
  },
  UNAUTHORIZED: {
    why: "The key expired or was revoked while the trace was being stored.",
    remedy: "Use an active key.",
  },
  EMAIL_NOT_VERIFIED: {
    why: "The email of the account that owns this project is not verified.",
    remedy:
      "Open the link in the verification email and confirm. Then resend: the same key and x-request-id still work.",
  },
  DAILY_LIMIT_REACHED: {
    why: "The account has sent as much today as it may.",
    remedy: "Send less, or ask the operator to raise SVC_ACCOUNT_BYTES_PER_DAY. The day ends at 00:00 UTC.",
  },
  FORBIDDEN: { why: "This key may not do this.", remedy: "Use a key of this project." },
  OTLP_PLATFORM_NOT_ALLOWED: {
    why: "The service name belongs to an agent that the key cannot write to.",
    remedy: "Use a key with access to the agent, or create one.",
  },
  NOT_FOUND: {
    why: "The exporter sent to a path where nothing is received.",
    remedy:
      "Set OTEL_EXPORTER_OTLP_TRACES_ENDPOINT to the URL that ends in /public/traces. Logs go to /public/logs, set in OTEL_EXPORTER_OTLP_LOGS_ENDPOINT, or nowhere with OTEL_LOGS_EXPORTER=none. For metrics, set OTEL_METRICS_EXPORTER=none.",
  },
  OTLP_PLATFORM_NOT_FOUND: {
    why: "No agent of this project has the service name that was sent.",
    remedy:
      "Set it as an agent’s service name here, or set OTEL_SERVICE_NAME to an existing one. Names are case-sensitive.",
  },
  METHOD_NOT_ALLOWED: { why: "Traces must be sent with POST.", remedy: "POST to /public/traces." },
  REQUEST_TIMEOUT: {
    why: "The request took too long to arrive.",
    remedy: "Send it again; if this repeats, check the network and send smaller batches.",
  },
  CONFLICT: { why: "The request conflicts with stored data.", remedy: "Send it again." },
  PAYLOAD_TOO_LARGE: {
    why: "The request is larger than 30 MB after decompression, or its trace has grown too large.",
    remedy: "Export smaller batches, such as 10 to 20 spans.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    why: "The Content-Type or Content-Encoding is not supported.",
    remedy:
      "Send application/json or application/x-protobuf, plain or with gzip. OTLP over gRPC is not supported: set OTEL_EXPORTER_OTLP_PROTOCOL to http/protobuf.",
  },
  EXPECTATION_FAILED: {
    why: "The Expect header was not 100-continue.",
    remedy: "Leave the header out.",
  },
  RATE_LIMITED: { why: "Too many requests at once.", remedy: "Exporters retry automatically." },
  INTERNAL: {
    why: "Internal error: the trace was not stored.",
    remedy: "Find the response’s request ID in the service log.",
  },
  UNAVAILABLE: {
    why: "The service was unavailable.",
    remedy: "Exporters retry automatically; other senders should retry after a second.",
  },
};
