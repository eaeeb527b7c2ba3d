// Lists of manual runs whose plans a connection keeps: the same runs as the first time, for any filter.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { runResults } from "../../../src/model/run/launch.ts";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import { newest } from "../../../src/store/listing.ts";
import {
  findManualRun,
  listManualRunsOfTest,
  listRunsOfLaunch,
} from "../../../src/store/runs/launched-runs.ts";
import { findLaunch, insertLaunch, listLaunches } from "../../../src/store/runs/launches.ts";
import { openFresh } from "../../support/postgres.ts";
import { endLaunchedRun } from "../../support/stored-traces.ts";
import { makeSender, makeTestCase, openTwice, runnable } from "../traces/make-write.ts";

const { url, db, close } = await openTwice();
after(close);

const outcomes: Outcome[] = ["passed", "failed", "skipped", "missing_instrumentation"];

test("a connection that keeps its plans lists the runs of launches with many runs and with few as before", async () => {
  const { agentId } = await makeSender(db, { judged: false });
  const tests = [
    await makeTestCase(db, agentId, { inputs: [{ input: "a" }, { input: "b" }], repeats: 5 }),
    await makeTestCase(db, agentId),
  ];
  const launchIds: string[] = [];
  for (const launched of [tests, tests.slice(1), tests]) {
    const given = { agentId, createdBy: "nobody", source: "api" as const, tests: runnable(launched) };
    const { id } = await insertLaunch(db, given);
    launchIds.push(id);
    for (const [at, run] of (await listRunsOfLaunch(db, id)).entries()) {
      // Some stay open.
      const verdict = outcomes[at % 5];
      if (verdict) {
        const values = [run.id, verdict] as const;
        await endLaunchedRun(db, ...values);
      }
    }
  }
  const kept = openFresh(url, 1);
  const page = { before: newest, rowsMax: 100 };
  const [run] = await listRunsOfLaunch(db, launchIds[2]!);
  const reads: (() => Promise<unknown[]>)[] = [
    ...launchIds.flatMap(id => [
      ...[undefined, ...runResults].map(result => () => listRunsOfLaunch(kept, id, { result })),
      () => listRunsOfLaunch(kept, id, { testId: tests[1]!.id }),
      () => listRunsOfLaunch(kept, id, { row: 2, result: "failed" }),
      async () => [await findLaunch(kept, id)],
    ]),
    ...tests.flatMap(({ id }) => [
      () => listManualRunsOfTest(kept, id, page),
      () => listManualRunsOfTest(kept, id, { ...page, like: run!.id }),
    ]),
    async () => [await findManualRun(kept, run!.id)],
    () => listLaunches(kept, agentId, page),
  ];
  const expected: unknown[][] = [];
  for (const read of reads) expected.push(await read());
  const [all, ...byResult] = expected.slice(0, 1 + runResults.length);
  assert.equal(all!.length, 11);
  assert.equal(byResult.flat().length, 11);
  for (let time = 0; time < 8; time++) {
    for (const [at, read] of reads.entries()) assert.deepEqual(await read(), expected[at], `read ${at}`);
  }
  await kept.close();
});
