// The paths that exporters send to by mistake, and which variable to set instead.
import { Refusal } from "../../model/refusal.ts";

const traces =
  "Set OTEL_EXPORTER_OTLP_TRACES_ENDPOINT to the URL that ends in /public/traces; exporters use it unchanged. To OTEL_EXPORTER_OTLP_ENDPOINT they append /v1/traces.";
const logs =
  "Set OTEL_EXPORTER_OTLP_LOGS_ENDPOINT to the URL that ends in /public/logs, or OTEL_LOGS_EXPORTER=none to send no logs.";
const metrics =
  "Set OTEL_METRICS_EXPORTER=none: only traces and logs are received, at /public/traces and /public/logs.";

/** What an SDK builds from a base URL with or without a path, with the hint that says what to set. */
const hints: Record<string, string> = {
  "/": traces,
  "/v1/traces": traces,
  "/public/v1/traces": traces,
  "/public/traces/v1/traces": traces,
};
for (const [name, hint] of [
  ["logs", logs],
  ["metrics", metrics],
] as const) {
  for (const before of ["", "/public", "/public/traces", "/public/logs", `/public/${name}`]) {
    hints[`${before}/v1/${name}`] = hint;
  }
}
hints["/public/logs/v1/traces"] = traces;

/** With and without a slash at the end. */
export const wrongPaths = Object.keys(hints).flatMap(path => (path === "/" ? [path] : [path, `${path}/`]));

export function wrongPath(url: string): Refusal {
  const hint = wrongPathHint(url.split("?", 1)[0]!)!;
  return new Refusal("NOT_FOUND", { message: "Nothing is received at this path.", hint });
}

/** Which variable to set; undefined for other paths. */
export function wrongPathHint(path: string): string | undefined {
  return hints[path] ?? hints[path.slice(0, -1)];
}
