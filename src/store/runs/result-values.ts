// What lists of traces find results of tests by: each test's outcome and version in the run's row, and where they occur.

import type pg from "pg";
import type { Outcome } from "../../model/run/outcome.ts";
import type { Result } from "../../model/run/run.ts";
import { minuteOfId } from "../listing.ts";
import { multiRow } from "../parameters/multi-row.ts";

type Results = { results: Pick<Result, "testId" | "outcome" | "fullyEvaluated" | "testVersion">[] };

/** How `runs.test_outcomes` spells each outcome; in capitals where the result is not fully evaluated. */
export const outcomeLetters: Record<Outcome, string> = {
  passed: "p",
  failed: "f",
  skipped: "s",
  missing_instrumentation: "m",
};

/** Parallel to `runs.test_ids`. */
export function outcomesOf({ results }: Results): string {
  return results
    .map(({ outcome, fullyEvaluated }) =>
      fullyEvaluated ? outcomeLetters[outcome] : outcomeLetters[outcome].toUpperCase(),
    )
    .join("");
}

/** Parallel to `runs.test_ids`; 0 for a test without a version. */
export function versionsOf({ results }: Results): number[] {
  return results.map(({ testVersion }) => testVersion ?? 0);
}

/** As `trace_values` has them. */
export const outcomeValue = (testId: string, outcome: Outcome) => `${testId} ${outcome}`;
export const versionValue = (testId: string, version: number) => `${testId} ${version}`;

/** The minute with which the hour of the id begins: results are kept by the hour. */
export function hourOfId(id: string): number {
  const minute = minuteOfId(id);
  return minute - (minute % 60);
}

type Row = { agentId: string; minute: number; kind: "outcome" | "version"; value: string };

const rows = multiRow<Row>(1, {
  agent_id: ["uuid", row => row.agentId],
  minute: ["bigint", row => row.minute],
  kind: ["text", row => row.kind],
  value: ["text", row => row.value],
});

/** `traceIds`: the traces that show the run, several for a manual run with several turns. */
export type ListedResults = { agentId: string; traceIds: string[]; verdict: Results };

/** Call it in the transaction that stores the results, which locks the runs: deletions lock these first, too. */
export async function addResultValues(client: pg.PoolClient, runs: ListedResults[]): Promise<void> {
  const found = rowsOf(runs);
  if (found.length === 0) return;
  await client.query({
    name: "add_result_values",
    text: `select add_trace_values(array_agg(agent_id), array_agg(kind), array_agg(value), array_agg(minute))
      from (select * from ${rows.from} order by agent_id, minute, kind, value) item`,
    values: rows.values(found),
  });
}

/** What the tests of an agent came to in an hour. */
type Hour = { agentId: string; minute: number; tests: Map<string, Tested> };
type Tested = { outcomes: Set<Outcome>; versions: Set<number> };

function rowsOf(runs: ListedResults[]): Row[] {
  const hours = new Map<string, Hour>();
  for (const { agentId, traceIds, verdict } of runs) {
    for (const minute of new Set(traceIds.map(hourOfId))) {
      const key = `${agentId} ${minute}`;
      const hour = hours.get(key) ?? { agentId, minute, tests: new Map() };
      hours.set(key, hour);
      for (const { testId, outcome, testVersion } of verdict.results) {
        const tested = hour.tests.get(testId) ?? { outcomes: new Set(), versions: new Set() };
        hour.tests.set(testId, tested);
        tested.outcomes.add(outcome);
        tested.versions.add(testVersion ?? 0);
      }
    }
  }
  return [...hours.values()].flatMap(({ agentId, minute, tests }) =>
    [...tests].flatMap(([testId, { outcomes, versions }]): Row[] =>
      [
        ...[...outcomes].map(outcome => ({ kind: "outcome" as const, value: outcomeValue(testId, outcome) })),
        ...[...versions].map(version => ({ kind: "version" as const, value: versionValue(testId, version) })),
      ].map(row => ({ agentId, minute, ...row })),
    ),
  );
}
