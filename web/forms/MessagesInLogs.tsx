// How messages that an SDK writes as log records are sent.
export function MessagesInLogs({ hasConventions }: { hasConventions: boolean }) {
  return (
    <>
      {" "}
      If your SDK writes messages as log records, set <code>OTEL_LOGS_EXPORTER=otlp</code> and{" "}
      <code className="break">OTEL_EXPORTER_OTLP_LOGS_ENDPOINT={location.origin}/public/logs</code>
      {hasConventions ? "." : ", and choose its convention in the agent’s settings."}
    </>
  );
}
