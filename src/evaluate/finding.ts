// What a check reports, before its negation and its dependencies are reckoned with.

import type { SemanticAnswer, SemanticQuestion } from "../model/judge/judge.ts";
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
  /** A comparison took place; only this is turned round by `negate`. `fact` is a sentence without its full stop. */
  | (Seen & { kind: "compared"; holds: boolean; fact: string } & Pick<Check, "match" | "suspicious"> & {
        score?: number;
      })
  /** There was nothing to compare (E2). */
  | (Seen & { kind: "absent"; outcome: "failed" | "missing_instrumentation"; reason: string })
  | (Seen & { kind: "skipped"; skipped: NonNullable<Check["skipped"]>; reason: string })
  /** It cannot be said before these are answered. */
  | (OpenQuestions & { kind: "open" });

export type Context = { view: TraceView; test: TestCase; answers: Answers };

/** Judges one assertion by the trace and the answers; pure, and total on whatever a trace may hold. */
export type CheckOf<T extends AssertionType> = (assertion: AssertionOf<T>, context: Context) => Finding;

/** The key of a question about one span's value. */
export function questionKey(test: TestCase, assertionId: string, spanId: string): string {
  return JSON.stringify([test.id, assertionId, spanId]);
}
