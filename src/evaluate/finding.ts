// What a check finds in a trace, before `negate` and `depends_on` are applied.

import type { SemanticAnswer, SemanticQuestion } from "../model/judge/judge.ts";
import type { Comparison, Reason } from "../model/run/reason.ts";
import type { Check, Evidence } from "../model/run/run.ts";
import type { SandboxAnswer, SandboxQuestion } from "../model/sandbox.ts";

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
