// The fills of charts, a color and a pattern each, and the swatch of a legend.

import type { Outcome } from "../../../src/model/run/outcome.ts";
export type Fill = Outcome | "not_fully_evaluated" | "unavailable" | "first" | "second" | "rate";

const tokens: Record<Fill, string> = {
  passed: "passed",
  failed: "failed",
  missing_instrumentation: "missing",
  skipped: "skipped",
  not_fully_evaluated: "skipped",
  unavailable: "band",
  first: "first",
  second: "second",
  rate: "passed",
};
/** Pixels. In narrower bars a pattern is only noise. */
const patternMin = 6;

/** A value for `fill`: a pattern of `Patterns` or, for a bar of fewer pixels, the plain color. */
export function fillOf(fill: Fill, width = patternMin): string {
  return width < patternMin ? `var(--chart-${tokens[fill]})` : `url(#chart-${fill})`;
}

/** Must be on each page with charts, once. */
export function Patterns() {
  return (
    <svg className="unseen" aria-hidden="true">
      <defs>
        <Pattern fill="passed" />
        <Pattern fill="first" />
        <Pattern fill="rate" />
        <Pattern fill="failed">
          <path d="M-1 7 7-1M-1 1 1-1M5 7 7 5" />
        </Pattern>
        <Pattern fill="missing_instrumentation">
          <path d="M1.5 1.5h1.5M4.5 4.5h1.5" />
        </Pattern>
        <Pattern fill="skipped">
          <path d="M0 3h6" />
        </Pattern>
        <Pattern fill="not_fully_evaluated">
          <path d="M0 1.5h6M0 4.5h6" />
        </Pattern>
        <Pattern fill="second">
          <path d="M3 0v6" />
        </Pattern>
        <Pattern fill="unavailable">
          <path d="M0 0 6 6M-1 5 1 7M5-1 7 1" />
        </Pattern>
      </defs>
    </svg>
  );
}

function Pattern({ fill, children }: { fill: Fill; children?: React.ReactNode }) {
  return (
    <pattern
      id={`chart-${fill}`}
      className={`pattern pattern-${fill}`}
      width="6"
      height="6"
      patternUnits="userSpaceOnUse"
    >
      <rect width="6" height="6" />
      {children}
    </pattern>
  );
}

/** `line`: drawn as a line of a chart. */
export function Swatch({ fill, line = false }: { fill: Fill; line?: boolean | undefined }) {
  return (
    <svg className={line ? `swatch plot-line-${fill}` : "swatch"} viewBox="0 0 12 12" aria-hidden="true">
      {line ? <path d="M0 6h12" /> : <rect width="12" height="12" rx="2" fill={fillOf(fill)} />}
    </svg>
  );
}
