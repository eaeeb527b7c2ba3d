// The fills of charts: a colour and a pattern for each thing, and a sample of it beside its word.
import type { Outcome } from "../../../src/model/run.ts";

export type Fill = Outcome | "unavailable" | "first" | "second" | "rate";

/** For `fill`: the pattern of `Patterns`, or the plain colour. */
export function fillOf(fill: Fill): string {
  return `url(#chart-${fill})`;
}

/** Once on a page with charts, wherever. */
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
        <Pattern fill="second">
          <path d="M3 0v6" />
        </Pattern>
        <Pattern fill="unavailable">
          <path d="M-1 1 5 7M1-1 7 5" />
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

/** `line`: as a line is drawn. */
export function Swatch({ fill }: { fill: Fill }) {
  return (
    <svg className="swatch" viewBox="0 0 12 12" aria-hidden="true">
      <rect width="12" height="12" rx="2" fill={fillOf(fill)} />
    </svg>
  );
}
