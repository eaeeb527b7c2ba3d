// Environment variables that several SDKs share.

/** Those by which the latest GenAI conventions of OpenTelemetry are told to write messages. */
export function latestContent(mode: "SPAN_ONLY" | "SPAN_AND_EVENT"): string[] {
  return [
    "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental",
    `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=${mode}`,
  ];
}
