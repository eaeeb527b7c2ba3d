// The outcome of a check or a test, and how many have each.

export type Outcome = "passed" | "failed" | "skipped" | "missing_instrumentation";

export type Counts = Record<Outcome, number>;

/** Counted results: fully evaluated ones by outcome, and the others. */
export type Tally = Counts & { not_fully_evaluated: number };
