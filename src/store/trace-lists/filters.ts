// The filters of a list of traces.

import type { Outcome } from "../../model/run/outcome.ts";
import type { ResultState, Routing, RunState } from "../../model/run/run.ts";
import type { TraceKind, TracePath } from "../../model/trace/trace.ts";

/** Absent: any. */
export type TraceFilters = {
  kind?: TraceKind | undefined;
  path?: TracePath | undefined;
  /** `waiting`: running, but waiting for the judge. `none`: traces without a run. */
  state?: RunState | "waiting" | "none" | undefined;
  /** `none`: completed, but no test applied. */
  verdict?: Outcome | "none" | undefined;
  routing?: Routing | undefined;
  failed?: boolean | undefined;
  /** True: with the traces that lists leave out. */
  noise?: boolean | undefined;
  /** Whether checks were skipped because the judge was unavailable, and not evaluated since. */
  outage?: boolean | undefined;
  /** Of the completed run, or of the result of the test. */
  fullyEvaluated?: boolean | undefined;
  /** Where a failed result of the run stands. */
  resultState?: ResultState | undefined;
  httpStatus?: number | undefined;
  externalId?: string | undefined;
  tool?: string | undefined;
  model?: string | undefined;
  provider?: string | undefined;
  /** A rule that redacted something in the trace. */
  redacted?: string | undefined;
  /** As `boundedId` writes them. */
  conversationId?: string | undefined;
  userId?: string | undefined;
  testId?: string | undefined;
  /** Of the test's result. */
  testOutcome?: Outcome | undefined;
  testVersion?: number | undefined;
  /** At least one of these has a result. */
  testIds?: string[] | undefined;
  receivedFrom?: Date | undefined;
  receivedTo?: Date | undefined;
  durationMinMs?: number | undefined;
  durationMaxMs?: number | undefined;
  tokensMin?: number | undefined;
  tokensMax?: number | undefined;
  /** Searched in name, user input and response, ignoring case. */
  text?: string | undefined;
};
