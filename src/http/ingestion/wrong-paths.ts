// The paths that exporters send to by mistake, and which variable to set instead.
import { Refusal } from "../../model/refusal.ts";

const traces =
  "Set OTEL_EXPORTER_OTLP_TRACES_ENDPOINT to the URL that ends in /public/traces; exporters use it unchanged. To OTEL_EXPORTER_OTLP_ENDPOINT they append /v1/traces.";
const others = (signal: "LOGS" | "METRICS") =>
  `Set OTEL_${signal}_EXPORTER=none: only traces are received, at /public/traces.`;

/** What an SDK builds from a base URL with or without a path, with the hint that says what to set. */
const hints: Record<string, string> = {
  "/": traces,
  "/v1/traces": traces,
  "/public/v1/traces": traces,
  "/public/traces/v1/traces": traces,
};
for (const signal of ["LOGS", "METRICS"] as const) {
  const name = signal.toLowerCase();
  for (const before of ["", "/public", "/public/traces", `/public/${name}`]) {
    hints[`${before}/v1/${name}`] = others(signal);
  }
}

/** With and without a slash at the end. */
export const wrongPaths = Object.keys(hints).flatMap(path => (path === "/" ? [path] : [path, `${path}/`]));

export function wrongPath(url: string): Refusal {
  const path = url.split("?", 1)[0]!;
  const hint = hints[path] ?? hints[path.slice(0, -1)]!;
  return new Refusal("NOT_FOUND", { message: "Nothing is received at this path.", hint });
}
