// How what sent spans without a service name is told one, where the usual variable does not do.

const fixes: [scope: RegExp, fix: string][] = [
  [
    /^gcp\.vertex\.agent$/,
    "ADK for JavaScript ignores OTEL_SERVICE_NAME: pass a resource with service.name as the second argument of maybeSetOtelProviders.",
  ],
];

/** `scope`: that of a span. */
export function serviceNameFix(scope: string): string {
  return (
    fixes.find(([pattern]) => pattern.test(scope))?.[1] ??
    "Set OTEL_SERVICE_NAME to the OTLP service name of the agent."
  );
}
