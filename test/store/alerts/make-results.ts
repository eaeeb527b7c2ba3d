// Adds results of tests on live traffic as workers do, and reads the states that follow.
import type { Outcome } from "../../../src/model/run/outcome.ts";
import type { Result } from "../../../src/model/run/run.ts";
import { addTestResults, findFailing, type TrafficRun } from "../../../src/store/alerts/test-states.ts";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import { type Database, transaction } from "../../../src/store/db.ts";
import { idAt } from "../../../src/store/listing.ts";

export const start = Date.UTC(2026, 10, 21, 12);

/** The id of a trace that arrived this many seconds after `start`. */
export const traceAt = (seconds: number) => idAt(start + seconds * 1_000);

const outcomes: Record<string, Outcome> = {
  F: "failed",
  P: "passed",
  S: "skipped",
  M: "missing_instrumentation",
};

export type Given = {
  agentId: string;
  testId: string;
  /** When the trace arrived, in seconds. */
  at: number;
  /** F, P, S or M; in lower case: not fully evaluated. */
  outcome: string;
  /** Orders the runs of a trace. */
  run?: number;
  revision?: number;
};

/** In one transaction, as one worker stores them. */
export async function addResults(db: Database, given: Given[]): Promise<void> {
  const runs = given.map(({ agentId, testId, at, outcome, run = 1, revision = run }): TrafficRun => {
    const letter = outcome.toUpperCase();
    const results = [{ testId, outcome: outcomes[letter]!, fullyEvaluated: letter === outcome } as Result];
    return { id: idAt(start + run), traceId: traceAt(at), agentId, revision, verdict: { results } };
  });
  const place = given[0] ? await placeOf(db, given[0].agentId) : db;
  await transaction(place, client => addTestResults(client, runs));
}

/** One letter per trace, a second apart, each stored separately. */
export async function addInTurn(
  db: Database,
  test: { agentId: string; testId: string },
  letters: string,
  from = 1,
): Promise<void> {
  for (const [place, outcome] of [...letters].entries()) {
    await addResults(db, [{ ...test, at: from + place, outcome }]);
  }
}

/** "fine", or when the first of the three traces arrived, in seconds. */
export async function stateOf(db: Database, testId: string): Promise<"fine" | number> {
  const failing = (await findFailing(db, [testId])).get(testId);
  return failing ? (failing.since.getTime() - start) / 1_000 : "fine";
}

/** The changes that nobody was told about, oldest first. */
export async function changesOf(db: Database, testId: string): Promise<string[]> {
  const { rows } = await db.pool.query<{ state: string }>(
    "select state from test_state_changes where test_id = $1 order by id",
    [testId],
  );
  return rows.map(({ state }) => state);
}
