// A test is failing after three failures in a row, by arrival of their traces, and fine again after three passes.
import assert from "node:assert/strict";
import { after, beforeEach, suite, test } from "node:test";
import { mergeTestCase } from "../../../src/model/test-case/test-case.ts";
import { closeDigest } from "../../../src/store/alerts/digests.ts";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import { idAt } from "../../../src/store/listing.ts";
import { deleteTestCase, updateTestCase, updateTestCases } from "../../../src/store/test-cases.ts";
import { storeJudgedRun } from "../../support/judged-runs.ts";
import { storeTrace } from "../../support/stored-traces.ts";
import { makeSender, makeTestCase, openTwice } from "../traces/make-write.ts";
import { addInTurn, addResults, changesOf, type Given, start, stateOf, traceAt } from "./make-results.ts";

const { db, other, close } = await openTwice();
after(close);

let watched: { agentId: string; testId: string };
beforeEach(async () => {
  const { agentId } = await makeSender(db, { judged: false });
  watched = { agentId, testId: (await makeTestCase(db, agentId)).id };
});

const state = () => stateOf(db, watched.testId);
const changes = () => changesOf(db, watched.testId);
const inTurn = (letters: string, from = 1) => addInTurn(db, watched, letters, from);
const add = (...given: Omit<Given, "agentId" | "testId">[]) =>
  addResults(
    db,
    given.map(one => ({ ...watched, ...one })),
  );

suite("in a row", () => {
  const rows: [letters: string, state: "fine" | number, changes: string[]][] = [
    ["", "fine", []],
    ["FF", "fine", []],
    ["FFPFF", "fine", []],
    ["PPFFF", 3, ["failing"]],
    ["FFFFFF", 1, ["failing"]],
    ["FFFPPFPP", 1, ["failing"]],
    ["FFFPPP", "fine", ["failing", "fine"]],
    ["PPPPPP", "fine", []],
    ["FFFPPPFFF", 7, ["failing", "fine", "failing"]],
    // What is skipped or cannot be checked neither counts nor ends a row.
    ["FSFMSF", 1, ["failing"]],
    ["FFFPSPMP", "fine", ["failing", "fine"]],
    ["SSSMMM", "fine", []],
    // Nor does what is not fully evaluated: an outage of the judge ends no alarm and begins none.
    ["FFFpppppp", 1, ["failing"]],
    ["FFFPpPpP", "fine", ["failing", "fine"]],
    ["FfFpF", 1, ["failing"]],
    ["FFffff", "fine", []],
    [`${"P".repeat(40)}FF${"S".repeat(40)}F`, 41, ["failing"]],
  ];
  for (const [letters, expected, told] of rows) {
    test(`${letters || "nothing"} is ${expected}`, async () => {
      await inTurn(letters);
      assert.deepEqual([await state(), await changes()], [expected, told]);
    });
  }

  for (const [letters, expected, told] of rows) {
    test(`${letters || "nothing"}, stored at once, is the same`, async () => {
      await add(...[...letters].map((outcome, place) => ({ at: place + 1, outcome })));
      assert.deepEqual([await state(), await changes()], [expected, told]);
    });
  }
});

test("of passes that are stored together, the latest 32 are kept, each trace once with its latest run", async () => {
  const passes = (from: number, to: number, run = 1) =>
    Array.from({ length: to - from + 1 }, (_, place) => ({ at: from + place, outcome: "P", run }));
  const kept = async () => {
    const { pool } = await placeOf(db, watched.agentId);
    const { rows } = await pool.query("select traces, runs, failures from test_states where test_id = $1", [
      watched.testId,
    ]);
    return rows;
  };
  const expected = (of: { at: number; run: number }[]) => [
    {
      traces: of.map(({ at }) => traceAt(at)),
      runs: of.map(({ run }) => idAt(start + run)),
      failures: of.map(() => false),
    },
  ];
  await add(...passes(1, 20));
  assert.deepEqual(await kept(), expected(passes(1, 20)));
  await add(...passes(21, 40));
  assert.deepEqual(await kept(), expected(passes(9, 40)));
  await add(...passes(41, 90));
  assert.deepEqual(await kept(), expected(passes(59, 90)));
  await add(...passes(91, 91), ...passes(91, 91, 2));
  assert.deepEqual(await kept(), expected([...passes(60, 90), ...passes(91, 91, 2)]));
  await add(...passes(91, 92));
  assert.deepEqual(
    await kept(),
    expected([...passes(61, 90), ...passes(91, 91, 2), ...passes(92, 92)]),
    "an earlier run of the last trace changes nothing",
  );
});

suite("out of order", () => {
  test("results count in the order in which their traces arrived, not in which evaluations end", async () => {
    for (const at of [5, 1, 3]) await add({ at, outcome: "F" });
    assert.equal(await state(), 1);
  });

  test("a late pass between failures keeps the test from failing if it comes before the third", async () => {
    await add({ at: 1, outcome: "F" }, { at: 4, outcome: "F" });
    await add({ at: 2, outcome: "P" });
    await add({ at: 5, outcome: "F" });
    assert.equal(await state(), "fine");
    await add({ at: 6, outcome: "F" });
    assert.equal(await state(), 4);
  });

  test("late results of earlier traces never bring an old state back", async () => {
    await add({ at: 1, outcome: "F" }, { at: 2, outcome: "F" });
    await inTurn("FPPP", 10);
    assert.deepEqual(await changes(), ["failing", "fine"]);
    await add({ at: 3, outcome: "F" }, { at: 4, outcome: "F" }, { at: 5, outcome: "F" });
    assert.deepEqual([await state(), await changes()], ["fine", ["failing", "fine"]]);
  });

  test("a result that comes after 32 later ones does not count", async () => {
    await add({ at: 2, outcome: "F" }, { at: 3, outcome: "F" });
    await inTurn("P".repeat(30), 10);
    await add({ at: 1, outcome: "F" });
    assert.deepEqual(await changes(), []);
    await add({ at: 4, outcome: "F" });
    assert.deepEqual(await changes(), ["failing", "fine"], "those of the 32 still do");
  });

  test("two workers that store results at once miss none, and change the state once", async () => {
    const both = [db, other].flatMap((pool, worker) =>
      Array.from({ length: 12 }, (_, place) =>
        addResults(pool, [{ ...watched, at: 1 + worker + 2 * place, outcome: "F" }]),
      ),
    );
    await Promise.all(both);
    assert.deepEqual([await state(), await changes()], [1, ["failing"]]);
    const { rows } = await db.pool.query("select cardinality(traces) as kept from test_states");
    assert.ok(rows.some(({ kept }) => kept === 24));
  });
});

suite("evaluated again", () => {
  test("a trace counts once, with the result of its latest run", async () => {
    await inTurn("FF");
    for (const run of [2, 3, 4]) await add({ at: 2, outcome: "F", run });
    assert.equal(await state(), "fine");
    await add({ at: 2, outcome: "P", run: 5 });
    await inTurn("FF", 3);
    assert.equal(await state(), "fine");
    await add({ at: 2, outcome: "F", run: 6 });
    assert.equal(await state(), 1);
  });

  test("an earlier run that ends later changes nothing", async () => {
    await add({ at: 1, outcome: "P", run: 2 });
    await add({ at: 1, outcome: "F", run: 1 });
    await inTurn("FF", 2);
    assert.equal(await state(), "fine");
  });

  test("both runs of a trace can end in one transaction", async () => {
    await inTurn("FF");
    await add({ at: 3, outcome: "P", run: 2 }, { at: 3, outcome: "F", run: 1 });
    assert.equal(await state(), "fine");
  });

  test("a later result that counts neither way takes the earlier one back", async () => {
    await inTurn("FF");
    await add({ at: 2, outcome: "S", run: 2 });
    await inTurn("F", 3);
    assert.equal(await state(), "fine");
    await inTurn("F", 4);
    assert.equal(await state(), 1);
  });

  test("a run that somebody asked for does not count", async () => {
    const given = { testId: watched.testId, outcome: "failed", test: {}, testVersion: null, checks: [] };
    const results = [{ ...given, fullyEvaluated: true }] as never;
    for (const cause of ["traffic", "again", "traffic", "again"] as const) {
      const traceId = await storeTrace(db, watched.agentId);
      await storeJudgedRun(db, { agentId: watched.agentId, traceId }, { results, cause });
    }
    assert.equal(await state(), "fine");
    const traceId = await storeTrace(db, watched.agentId);
    await storeJudgedRun(db, { agentId: watched.agentId, traceId }, { results });
    assert.notEqual(await state(), "fine");
  });
});

suite("when the test changes", () => {
  const change = (fields: object) =>
    updateTestCase(db, watched.testId, current => mergeTestCase(current, fields));

  test("an edit keeps the state and the results so far", async () => {
    await inTurn("FFFPP");
    await change({ name: "Answers politely" });
    assert.equal(await state(), 1);
    await inTurn("P", 6);
    assert.equal(await state(), "fine");
  });

  for (const fields of [
    { status: "disabled" },
    { passiveBehavior: "manual_only" },
    { turns: [{ input: "Hello" }, { input: "And?" }] },
  ]) {
    test(`${JSON.stringify(fields)} forgets the state and what was not told yet`, async () => {
      await inTurn("FFF");
      await change(fields);
      assert.deepEqual([await state(), await changes()], ["fine", []]);
      await inTurn("FFF", 4);
      assert.equal(await state(), "fine", "runs that began before bring nothing back");
      await change({ status: "active", passiveBehavior: "always_run", turns: [{ input: "Hello" }] });
      await inTurn("FF", 7);
      assert.equal(await state(), "fine", "counted from there");
      await inTurn("F", 9);
      assert.equal(await state(), 7);
    });
  }

  test("disabling several at once forgets the state of each", async () => {
    await inTurn("FFF");
    await updateTestCases(db, watched.agentId, [watched.testId], current =>
      mergeTestCase(current, { status: "disabled" }),
    );
    assert.equal(await state(), "fine");
  });

  test("a deleted test has no state, and results of it are ignored", async () => {
    await inTurn("FFF");
    await deleteTestCase(db, watched.testId);
    await inTurn("FFF", 4);
    assert.deepEqual([await state(), await changes()], ["fine", []]);
  });
});

suite("the schedule", () => {
  const dueIn = async () => {
    const { rows } = await db.pool.query<{ s: number | null }>(
      "select extract(epoch from due_at - now())::float8 as s from alert_schedules where agent_id = $1",
      [watched.agentId],
    );
    const s = rows[0]?.s ?? null;
    return s === null ? null : Math.round(s / 60);
  };

  test("the first change is told after 5 minutes; later ones wait with it, and an hour after a message", async () => {
    assert.equal(await dueIn(), null);
    await inTurn("FFF");
    assert.equal(await dueIn(), 5);
    await db.pool.query("update alert_schedules set due_at = now() + interval '2 minutes'");
    await inTurn("PPP", 4);
    assert.equal(await dueIn(), 2);
    await db.pool.query(
      "insert into alert_webhooks (agent_id, url, secret) values ($1, 'https://example.com', '')",
      [watched.agentId],
    );
    await db.pool.query("update alert_schedules set due_at = now()");
    while (await closeDigest(db, { email: false, bodyOf: () => "{}" }));
    assert.equal(await dueIn(), null);
    await inTurn("FFF", 7);
    assert.equal(await dueIn(), 60);
  });
});
