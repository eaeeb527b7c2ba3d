// What a check finds in a trace, before `negate` and `depends_on` are applied.

import type { SemanticAnswer, SemanticQuestion } from "../model/judge/judge.ts";
import type { Comparison, Reason } from "../model/run/reason.ts";
import type { Check, Evidence } from "../model/run/run.ts";
import type { SandboxAnswer, SandboxQuestion } from "../model/sandbox.ts";
import type { AssertionOf, AssertionType } from "../model/test-case/assertion.ts";
import type { TestCase } from "../model/test-case/test-case.ts";
import type { TraceView } from "./trace-view.ts";

/** A question, and the key under which its answer is expected. */
export type Asked<Q> = { key: string; question: Q };

/** What has been answered so far, by the keys of the questions. */
export type Answers = { semantic: Map<string, SemanticAnswer>; sandbox: Map<string, SandboxAnswer> };

export type OpenQuestions = { semantic: Asked<SemanticQuestion>[]; sandbox: Asked<SandboxQuestion>[] };

/** What the check looked for and at. `evidence` is kept short: at most `evidenceMax` places. */
type Seen = { expected: unknown; actual: unknown; evidence: Evidence[] };

export type Finding =
  /** A comparison took place; `negate` inverts only this. */
  | (Seen & { kind: "compared"; holds: boolean; reason: Comparison } & Pick<Check, "match" | "suspicious"> & {
        score?: number;
      })
  /** There was nothing to compare. */
  | (Seen & { kind: "absent"; outcome: "failed" | "missing_instrumentation"; reason: Reason })
  | (Seen & { kind: "skipped"; skipped: NonNullable<Check["skipped"]>; reason: Reason })
  /** Undecided until these are answered. */
  | (OpenQuestions & { kind: "open" });

export type Context = { view: TraceView; test: TestCase; answers: Answers };

/** Checks one assertion against the trace and the answers. Pure, and never throws on trace data. */
export type CheckOf<T extends AssertionType> = (assertion: AssertionOf<T>, context: Context) => Finding;

/** The key of the question that an assertion asks about one span's value. */
export function questionKey(test: TestCase, assertionId: string, spanId: string): string {
  return JSON.stringify([test.id, assertionId, spanId]);
}
