// Launches: created as a whole, compared with the previous one of the same input.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import type { TestCase } from "../../../src/model/test-case/document.ts";
import { documentOf } from "../../../src/model/test-case/test-case.ts";
import type { Database, Session } from "../../../src/store/db.ts";
import { newest } from "../../../src/store/listing.ts";
import { listTestStrips } from "../../../src/store/runs/insights.ts";
import { compareLaunches } from "../../../src/store/runs/launch-comparison.ts";
import { listRunsOfLaunch } from "../../../src/store/runs/launched-runs.ts";
import { findLaunch, insertLaunch, listLaunches } from "../../../src/store/runs/launches.ts";
import { deleteTestCase, updateTestCase } from "../../../src/store/test-cases.ts";
import { endLaunchedRun } from "../../support/stored-traces.ts";
import { makeSender, makeTestCase, openTwice, runnable } from "../traces/make-write.ts";

const { db, close } = await openTwice();
after(close);

test("the transaction that creates a launch returns it, even if the database goes down right after the commit", async () => {
  const { agentId } = await makeSender(db);
  const test = await makeTestCase(db, agentId);
  const query = () => Promise.reject(new Error("Connection terminated unexpectedly"));
  const leaving: Database = { ...db, pool: { query: query as Session["query"] } };
  const launch = await insertLaunch(leaving, {
    agentId,
    createdBy: "nobody",
    source: "api",
    tests: runnable([test]),
  });
  assert.equal(launch.state, "queued");
  assert.deepEqual(launch, await findLaunch(db, launch.id));
});

test("while the clock of the process is off no launch is created", async t => {
  const { agentId } = await makeSender(db);
  const test = await makeTestCase(db, agentId);
  const launch = () =>
    insertLaunch(db, { agentId, createdBy: "nobody", source: "api", tests: runnable([test]) });
  const { now } = Date;
  const clock = t.mock.method(Date, "now", () => now() - 3_600_000);
  await assert.rejects(launch(), { code: "UNAVAILABLE", message: /60 minutes behind/ });
  clock.mock.restore();
  assert.deepEqual(await listLaunches(db, agentId, { before: newest, rowsMax: 10 }), []);
  assert.equal((await launch()).runCount, 1);
});

const inputs = ["a", "b"].map(input => ({ input }));

async function launched(tests: TestCase[], agentId: string): Promise<string> {
  return (await insertLaunch(db, { agentId, createdBy: "nobody", source: "api", tests: runnable(tests) })).id;
}

/** Completes the runs of a launch, in their order, as if they had been evaluated. */
async function complete(launchId: string, outcomes: Outcome[]): Promise<void> {
  for (const [at, { id }] of (await listRunsOfLaunch(db, launchId)).entries()) {
    const values = [id, outcomes[at]!] as const;
    await endLaunchedRun(db, ...values);
  }
}

const changesOf = async (id: string) =>
  (await listRunsOfLaunch(db, id)).map(run => [run.verdict, run.change]);

test("a run is compared with the repeats of its input in the previous launch, and with no run of its own", async () => {
  const { agentId } = await makeSender(db);
  const test = await makeTestCase(db, agentId, { inputs, repeats: 2 });
  const first = await launched([test], agentId);
  await complete(first, ["passed", "passed", "failed", "passed"]);
  assert.deepEqual(await changesOf(first), [
    ["passed", "new"],
    ["passed", "new"],
    ["failed", "new"],
    ["passed", "new"],
  ]);
  const between = await launched([test], agentId);
  await complete(between, ["skipped", "skipped", "skipped", "skipped"]);
  const second = await launched([test], agentId);
  await complete(second, ["passed", "failed", "failed", "passed"]);
  assert.deepEqual(await changesOf(second), [
    ["passed", "same"],
    ["failed", "broke"],
    ["failed", "same"],
    ["passed", "same"],
  ]);
  const { items } = await compareLaunches(db, { before: between, launchId: second, rowsMax: 10 });
  assert.deepEqual(
    items.map(({ change, before }) => [change, before?.passRate]),
    [
      [null, null],
      [null, null],
    ],
  );
});

test("a run that is not fully evaluated is no change, no earlier result, and in no pass rate", async () => {
  const { agentId } = await makeSender(db, { judged: false });
  const test = await makeTestCase(db, agentId, { inputs });
  const launches: string[] = [];
  for (const [outcomes, fully] of [
    [
      ["failed", "passed"],
      [true, true],
    ],
    [
      ["passed", "failed"],
      [false, false],
    ],
    [
      ["passed", "failed"],
      [true, false],
    ],
  ] as const) {
    const id = await launched([test], agentId);
    await complete(id, [...outcomes]);
    await db.pool.query(
      `update runs set fully_evaluated = ($2::bool[])[place] from (
        select id, row_number() over (order by id) as place from runs where launch_id = $1
      ) placed where runs.id = placed.id`,
      [id, fully],
    );
    launches.push(id);
  }
  const [first, second, third] = launches as [string, string, string];
  assert.deepEqual(await changesOf(second), [
    ["passed", null],
    ["failed", null],
  ]);
  assert.deepEqual(await changesOf(third), [
    ["passed", "mended"],
    ["failed", null],
  ]);
  const found = (await findLaunch(db, third))!;
  assert.deepEqual([found.passRate!.passed, found.passRate!.of, found.notFullyEvaluated], [1, 1, 1]);
  const compared = await compareLaunches(db, { before: first, launchId: third, rowsMax: 10 });
  assert.deepEqual(
    compared.items.map(({ change }) => change),
    ["mended", null],
  );
  assert.deepEqual(compared.difference, { broke: 0, mended: 1, significant: false });
  assert.deepEqual(compared.tests[0]!.difference, compared.difference);
});

test("the latest manual result of a test is the worst one of its latest launch", async () => {
  const { agentId } = await makeSender(db, { judged: false });
  const test = await makeTestCase(db, agentId, { inputs, repeats: 2 });
  const strip = async () => {
    const [found] = await listTestStrips(db, agentId, new Date(), { before: newest, rowsMax: 1 });
    return found?.lastManualOutcome;
  };
  assert.equal(await strip(), null);
  for (const outcomes of [
    ["passed", "failed", "missing_instrumentation", "passed"],
    ["passed", "passed", "missing_instrumentation", "skipped"],
    ["skipped", "passed", "passed", "skipped"],
    ["skipped", "skipped", "skipped", "skipped"],
  ] as Outcome[][]) {
    await complete(await launched([test], agentId), outcomes);
    const worst = (["failed", "missing_instrumentation", "passed", "skipped"] as const).find(one =>
      outcomes.includes(one),
    );
    assert.equal(await strip(), worst);
  }
});

test("the latest manual result of a test says whether all of its latest launch was evaluated", async () => {
  const { agentId } = await makeSender(db, { judged: false });
  const test = await makeTestCase(db, agentId, { inputs });
  const strip = async () => {
    const [found] = await listTestStrips(db, agentId, new Date(), { before: newest, rowsMax: 1 });
    return [found?.lastManualOutcome, found?.lastManualFullyEvaluated];
  };
  assert.deepEqual(await strip(), [null, null]);
  const launchId = await launched([test], agentId);
  await complete(launchId, ["passed", "passed"]);
  assert.deepEqual(await strip(), ["passed", true]);
  await db.pool.query(
    "update runs set fully_evaluated = false where id = (select min(id::text)::uuid from runs where launch_id = $1)",
    [launchId],
  );
  assert.deepEqual(await strip(), ["passed", false]);
});

test("other inputs of a test do not make another version of a run", async () => {
  const { agentId } = await makeSender(db);
  const test = await makeTestCase(db, agentId, { inputs });
  const swapped = { ...test, inputs: [...inputs, { input: "c" }].reverse() };
  const verdicts: Outcome[] = ["passed", "failed", "passed"];
  for (const verdict of verdicts) await complete(await launched([test], agentId), [verdict, "passed"]);
  const changed = await updateTestCase(db, test.id, current => ({ ...current, inputs: swapped.inputs }));
  const later = await launched([changed!], agentId);
  await complete(later, ["passed", "passed", "failed"]);
  assert.deepEqual(
    (await listRunsOfLaunch(db, later)).map(({ input, change, flaky }) => [input, change, flaky]),
    [
      ["c", "new", false],
      ["b", "same", false],
      ["a", "broke", true],
    ],
  );
});

test("a test whose inputs were changed or deleted while it was launched is refused, and nothing is stored", async () => {
  const { agentId } = await makeSender(db);
  const test = await makeTestCase(db, agentId, { inputs });
  await updateTestCase(db, test.id, current => ({ ...documentOf(current), inputs: inputs.slice(1) }));
  await assert.rejects(launched([test], agentId), { code: "CONFLICT" });
  await deleteTestCase(db, test.id);
  await assert.rejects(launched([test], agentId), { code: "CONFLICT" });
  assert.equal((await db.pool.query("select from launches where agent_id = $1", [agentId])).rowCount, 0);
});
