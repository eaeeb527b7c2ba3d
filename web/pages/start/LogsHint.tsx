// The variables that send log records, for SDKs that write messages there instead of on spans.
export function LogsHint({ origin, keyText }: { origin: string; keyText: string }) {
  return (
    <details className="small">
      <summary>Does your SDK write messages as log records?</summary>
      <p>Send them too, beside the traces. Log records join the span that they are about.</p>
      <pre>
        <code className="break">
          {[
            "export OTEL_LOGS_EXPORTER=otlp",
            `export OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=${origin}/public/logs`,
            "export OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=http/protobuf",
            `export OTEL_EXPORTER_OTLP_LOGS_HEADERS=x-api-key=${keyText}`,
          ].join("\n")}
        </code>
      </pre>
    </details>
  );
}
