// Expected errors: the one error type that reaches clients, and the table of codes, statuses and default messages.

/** Every error code with its HTTP status and default message. */
export const refusals = {
  VALIDATION_ERROR: [400, "The request does not have the expected shape."],
  CUSTOM_API_PLATFORM_NOT_FOUND: [400, "No agent could be resolved from this key and request."],
  OTLP_SERVICE_NAME_REQUIRED: [400, "The resource attribute service.name is missing."],
  OTLP_NO_SPANS: [400, "The export request contains no spans."],
  OTLP_ID_INVALID: [400, "A span has an invalid traceId, spanId or parentSpanId."],
  OTLP_PROTOBUF_INVALID: [400, "The protobuf body cannot be decoded."],
  UNAUTHORIZED: [401, "Authentication is missing or not valid."],
  EMAIL_NOT_VERIFIED: [403, "The email of the account that owns this key is not verified."],
  FORBIDDEN: [403, "Not allowed."],
  DAILY_LIMIT_REACHED: [403, "The account has sent as much today as it may."],
  OTLP_PLATFORM_NOT_ALLOWED: [403, "This key may not write to the agent of this service.name."],
  NOT_FOUND: [404, "Not found."],
  OTLP_PLATFORM_NOT_FOUND: [404, "No agent of this project has this OTLP service name."],
  METHOD_NOT_ALLOWED: [405, "Method not allowed."],
  REQUEST_TIMEOUT: [408, "The request took too long to arrive."],
  CONFLICT: [409, "Conflicts with existing data."],
  PAYLOAD_TOO_LARGE: [413, "The request is larger than 30 MB after decompression."],
  UNSUPPORTED_MEDIA_TYPE: [415, "This Content-Type or Content-Encoding is not supported."],
  EXPECTATION_FAILED: [417, "The Expect header can only be 100-continue."],
  RATE_LIMITED: [429, "Too many requests."],
  INTERNAL: [500, "Something went wrong on our side."],
  UNAVAILABLE: [503, "The service is temporarily unavailable."],
} as const satisfies Record<string, readonly [status: number, sentence: string]>;

/**
 * 2 or 3 s, at random. Exporters try four to six times: after 1 s each, they give up sooner than without the header.
 * Some have 10 s in all and give up at once if the header asks for more than is left.
 */
const soon = () => 2 + Math.floor(Math.random() * 2);

export type RefusalCode = keyof typeof refusals;

/** An invalid field: its path in JavaScript notation (`spans[3].name`), and what is expected. */
export type Issue = { path: string; message: string };

export type RefusalDetail = {
  message?: string;
  /** How to fix it. Public. */
  hint?: string;
  issues?: Issue[];
  /** Seconds, sent as Retry-After. */
  retryAfterSeconds?: number;
  /** Private: logged, never sent. */
  cause?: unknown;
  /** Private: the agent that a request for ingestion names, as sent. */
  agentId?: string | undefined;
};

/** Thrown, or returned as a value, for expected errors. Never echoes a key or a payload. */
export class Refusal extends Error {
  override name = "Refusal";
  readonly code: RefusalCode;
  readonly hint: string | undefined;
  readonly issues: Issue[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  agentId: string | undefined;

  constructor(code: RefusalCode, detail: RefusalDetail = {}) {
    super(detail.message ?? refusals[code][1], { cause: detail.cause });
    this.code = code;
    this.hint = detail.hint;
    this.issues = detail.issues;
    this.agentId = detail.agentId;
    const retryable = code === "UNAVAILABLE" || code === "RATE_LIMITED";
    this.retryAfterSeconds = detail.retryAfterSeconds ?? (retryable ? soon() : undefined);
  }

  get status(): number {
    return refusals[this.code][0];
  }
}
