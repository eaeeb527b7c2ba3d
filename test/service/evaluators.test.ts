// An evaluation thread that hangs costs the runs that it had begun an attempt, and no others.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import pino from "pino";
import { readConfig } from "../../src/config.ts";
import { Evaluators } from "../../src/service/evaluators.ts";
import { giveBackRuns } from "../../src/store/runs/claims.ts";
import { findRun } from "../../src/store/runs/read.ts";
import { makeSender, openTwice, storeDueRun } from "../store/traces/make-write.ts";
import { eventually } from "../support/eventually.ts";

const { url, db, close } = await openTwice();
after(close);

test("a thread that hangs is ended; what it had claimed and not begun is given back untouched", async t => {
  const sender = await makeSender(db);
  const runIds: string[] = [];
  for (let count = 0; count < 6; count++) runIds.push((await storeDueRun(db, sender)).runId);
  const given: string[] = [];
  const logged: string[] = [];
  const config = { ...readConfig({}), evaluators: 1, leaseMs: 3_000 };
  const evaluators = new Evaluators({
    config: Object.assign(config, { hung: new Int32Array(new SharedArrayBuffer(4)) }),
    addresses: { url, directUrl: url, pooled: false },
    log: pino({ level: "error" }, { write: line => void logged.push(JSON.parse(line).msg) }),
    async giveBack(held) {
      given.push(...held.runIds);
      await giveBackRuns(db, held);
    },
    script: new URL("./hanging-evaluator.ts", import.meta.url),
    hangMs: 3_000,
  });
  t.after(() => evaluators.stop());
  const ended = await eventually(async () => {
    const runs = await Promise.all(runIds.map(id => findRun(db, id)));
    for (const run of runs) assert.equal(run!.state, "completed");
    return runs;
  });
  assert.deepEqual(logged, ["an evaluation thread hangs and is ended"]);
  assert.equal(given.length, 5);
  assert.deepEqual(
    ended.map(run => run!.attempts),
    runIds.map(id => (given.includes(id) ? 1 : 2)),
  );
});
