// The table of error codes, for the API, the dashboard and the documentation: status, what happened, and what to do.

export const refusals = {
  VALIDATION_ERROR: [
    400,
    "The request does not have the expected shape.",
    "Fix the fields that `issues` names. Traces need `spans`, each with `span_id` and `name`, or `resourceSpans`, at the top level.",
  ],
  CUSTOM_API_PLATFORM_NOT_FOUND: [
    400,
    "No agent could be resolved from this key and request.",
    "Send the `platformId` of an agent that the key has access to.",
  ],
  OTLP_SERVICE_NAME_REQUIRED: [
    400,
    "The resource attribute service.name is missing.",
    "Set `OTEL_SERVICE_NAME` to the agent's service name where the exporter runs.",
  ],
  OTLP_NO_SPANS: [
    400,
    "The export request contains no spans.",
    "Check whether a sampler or filter drops the spans before export.",
  ],
  OTLP_ID_INVALID: [
    400,
    "A span has an invalid traceId, spanId or parentSpanId.",
    "Send hexadecimal ids: 32 characters for a trace, 16 for a span. OTLP JSON does not use base64 ids.",
  ],
  OTLP_PROTOBUF_INVALID: [
    400,
    "The protobuf body cannot be decoded.",
    "Send JSON as `application/json`, or check whether a proxy changes the body.",
  ],
  UNAUTHORIZED: [
    401,
    "Authentication is missing or not valid.",
    "Send the full key in `x-api-key`, not in `Authorization`. Keys and access tokens end after 90 days unless chosen otherwise: create a new one.",
  ],
  EMAIL_NOT_VERIFIED: [
    403,
    "The email of the account that owns this key is not verified.",
    "Open the link in the verification email, then send again with the same key.",
  ],
  FORBIDDEN: [
    403,
    "Not allowed.",
    "Use another credential: access tokens read data and start or cancel runs, and nothing else.",
  ],
  DAILY_LIMIT_REACHED: [
    403,
    "The account has sent as much today as it may.",
    "Wait for 00:00 UTC, send less, or have the operator raise `SVC_ACCOUNT_BYTES_PER_DAY`. It is no 429, which exporters would repeat in vain.",
  ],
  OTLP_PLATFORM_NOT_ALLOWED: [
    403,
    "This key may not write to the agent of this service.name.",
    "Use a key with access to the agent, or create one.",
  ],
  NOT_FOUND: [
    404,
    "Not found.",
    "Check the URL and the id; resources of other projects and accounts are not found either. Traces go to `/public/traces`: set `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, to which exporters append nothing. Logs go to `/public/logs`, set in `OTEL_EXPORTER_OTLP_LOGS_ENDPOINT`; metrics go nowhere: set `OTEL_METRICS_EXPORTER=none`.",
  ],
  OTLP_PLATFORM_NOT_FOUND: [
    404,
    "No agent of this project has this OTLP service name.",
    "Make `OTEL_SERVICE_NAME` and an agent's service name equal, upper and lower case included.",
  ],
  METHOD_NOT_ALLOWED: [
    405,
    "Method not allowed.",
    "Use a method from the `Allow` header. Traces are sent with POST.",
  ],
  REQUEST_TIMEOUT: [
    408,
    "The request took too long to arrive.",
    "Send the same again. Headers may take 10 s, a whole request 120 s: check the network, or send smaller batches.",
  ],
  CONFLICT: [
    409,
    "Conflicts with existing data.",
    "Read the message: a name is taken, for example, too many runs are unfinished, or more traces match an erasure than were confirmed.",
  ],
  PAYLOAD_TOO_LARGE: [
    413,
    "The request is larger than 30 MB after decompression.",
    "Send smaller batches, of 10 to 20 spans.",
  ],
  UNSUPPORTED_MEDIA_TYPE: [
    415,
    "This Content-Type or Content-Encoding is not supported.",
    "Send `application/json` or `application/x-protobuf`, plain or gzip. OTLP over gRPC is not supported: set `OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf`.",
  ],
  EXPECTATION_FAILED: [
    417,
    "The Expect header can only be 100-continue.",
    "Leave the `Expect` header out, or send `Expect: 100-continue`.",
  ],
  RATE_LIMITED: [429, "Too many requests.", "Wait for `Retry-After` seconds; exporters do."],
  INTERNAL: [
    500,
    "Something went wrong on our side.",
    "This is a bug. The service log has a line with the `requestId`.",
  ],
  UNAVAILABLE: [
    503,
    "The service is temporarily unavailable.",
    "Send the same again after `Retry-After` seconds; exporters do. If it lasts, check the database. If the message names clocks, those of the service and the database differ by more than ten minutes: set them, such as by NTP.",
  ],
} as const satisfies Record<string, readonly [status: number, what: string, todo: string]>;

export type RefusalCode = keyof typeof refusals;
