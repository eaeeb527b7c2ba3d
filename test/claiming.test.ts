// What loops that claim log of a database that is unavailable: what waits, whose, and not each attempt.
import assert from "node:assert/strict";
import { test } from "node:test";
import { logFault, logFaultOfAgents } from "../src/claiming.ts";
import { openLog } from "../src/log.ts";
import type { Database, Unavailable } from "../src/store/db.ts";

const outage = () => Object.assign(new Error("connect ECONNREFUSED 10.0.0.5:5432"), { code: "ECONNREFUSED" });

function openLines() {
  // biome-ignore lint/suspicious/noExplicitAny: lines have the fields that a test reads
  const lines: any[] = [];
  const log = openLog("info", { write: line => void lines.push(JSON.parse(line)) });
  return { log, lines };
}

/** A cluster of which `unavailable` does not answer; undefined: one server. */
function databaseWith(unavailable: Unavailable | undefined): Database {
  const places = unavailable && { findUnavailable: async () => unavailable };
  return { places } as unknown as Database;
}

test("an outage that goes on is a line a minute, with how many attempts failed meanwhile", async t => {
  const { log, lines } = openLines();
  for (let count = 0; count < 5; count++) logFault(log, outage(), "alerts cannot be sent");
  logFault(log, outage(), "old traces cannot be deleted");
  assert.deepEqual(
    lines.map(({ level, msg, err }) => [level, msg, err]),
    [
      [40, "alerts cannot be sent: database unavailable", "connect ECONNREFUSED 10.0.0.5:5432"],
      [40, "old traces cannot be deleted: database unavailable", "connect ECONNREFUSED 10.0.0.5:5432"],
    ],
  );
  const { now } = performance;
  t.mock.method(performance, "now", () => now.call(performance) + 61_000);
  for (let count = 0; count < 2; count++) logFault(log, outage(), "alerts cannot be sent");
  assert.deepEqual(
    lines.slice(2).map(({ msg, more }) => [msg, more]),
    [["alerts cannot be sent: database unavailable", 4]],
  );
});

test("an outage of which the error has only a code is named by it", () => {
  const { log, lines } = openLines();
  const { code } = outage();
  logFault(log, Object.assign(new AggregateError([outage(), outage()]), { code }), "alerts cannot be sent");
  assert.deepEqual(
    lines.map(({ err }) => err),
    ["ECONNREFUSED"],
  );
});

test("a bug is an error each time", () => {
  const { log, lines } = openLines();
  for (let count = 0; count < 2; count++)
    logFault(log, new TypeError("no function"), "alerts cannot be sent");
  assert.deepEqual(
    lines.map(({ level, msg, err }) => [level, msg, err.message]),
    [
      [50, "alerts cannot be sent", "no function"],
      [50, "alerts cannot be sent", "no function"],
    ],
  );
});

test("while some workers of a cluster are unavailable, work waits for some agents, and the log names the workers", async () => {
  for (const [unavailable, expected, workers] of [
    [undefined, "runs cannot be claimed: database unavailable", undefined],
    [{ workers: [], of: 2 }, "runs cannot be claimed: database unavailable", undefined],
    [{ workers: ["db1:5432", "db2:5432"], of: 2 }, "runs cannot be claimed: database unavailable", undefined],
    [
      { workers: ["db1:5432"], of: 2 },
      "runs cannot be claimed for some agents: worker of the cluster unavailable",
      ["db1:5432"],
    ],
  ] as const) {
    const { log, lines } = openLines();
    const db = databaseWith(unavailable && { of: unavailable.of, workers: [...unavailable.workers] });
    await logFaultOfAgents({ log, db }, outage(), "runs cannot be claimed");
    assert.deepEqual(
      lines.map(line => [line.level, line.msg, line.workers]),
      [[40, expected, workers]],
    );
  }
});
