// A completed run as it is stored. It refers to nothing of its trace, which is garbage while results wait to be stored.

import type { Check, Result, Verdict } from "../../model/run/run.ts";
import type { TestCase } from "../../model/test-case/document.ts";
import { countsToStore, detailOf, encodeDetail, type TraceCounts } from "./detail.ts";

export type CompletedRun = {
  id: string;
  /** The evaluated revision of the trace. */
  revision: number;
  verdict: Verdict;
  /** Whether checks were skipped because the judge was unavailable; then `plan` is stored for a rerun. */
  outage: boolean;
  /** The tests of the evaluation. */
  plan?: TestCase[];
} & TraceCounts;

/** What is counted of a verdict: the outcomes, without what they are based on. */
export type Outcomes = Pick<Verdict, "routing" | "verdict" | "score" | "counts" | "fullyEvaluated"> & {
  results: (Pick<Result, "testId" | "testVersion" | "outcome" | "fullyEvaluated"> & {
    checks: Pick<Check, "id" | "outcome">[];
  })[];
};

/** `detail`: see encodeDetail. */
export type EncodedRun = Omit<CompletedRun, "verdict" | "plan"> & { verdict: Outcomes; detail: Buffer };

export function encodeRun({ verdict, plan, id, revision, outage, ...counted }: CompletedRun): EncodedRun {
  const { routing, verdict: outcome, score, counts, fullyEvaluated } = verdict;
  const results = verdict.results.map(({ testId, testVersion, outcome, fullyEvaluated, checks }) => ({
    testId,
    testVersion,
    outcome,
    fullyEvaluated,
    checks: checks.map(({ id, outcome }) => ({ id, outcome })),
  }));
  return {
    ...{ id, revision, outage, ...counted },
    verdict: { routing, verdict: outcome, score, counts, fullyEvaluated, results },
    detail: encodeDetail({
      ...detailOf(verdict, outage ? plan : undefined),
      counted: countsToStore(counted),
    }),
  };
}
