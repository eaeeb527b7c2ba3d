// Hostile requests, and too many: documented statuses only, bounded memory, and a healthy agent that goes on.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { measureOverload, type Overloaded, recoveryMs, slowMs } from "../../../bench/overload.ts";
import { type ServiceProcess, startProcess, stopProcess } from "../../flow/processes.ts";
import { freshDatabase } from "../../support/postgres.ts";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let service: ServiceProcess;
let results: Overloaded[];
before(async () => {
  database = await freshDatabase();
  service = await startProcess({ DATABASE_URL: database.url, SVC_ROLES: "http" });
  const { url, pid } = service;
  results = await measureOverload({ databaseUrl: database.url, url, pid, seconds: 10 });
});
after(async () => {
  await stopProcess(service);
  await database.drop();
});

/** 400: a body that is none. 408: a request that never ended. */
const documented = new Set(["200", "201", "400", "408", "413", "429", "503"]);

test("every answer has a documented status, and nothing is logged as an error", () => {
  for (const { load, statuses } of results) {
    const others = Object.keys(statuses).filter(status => !documented.has(status));
    assert.deepEqual([load, others], [load, []]);
    assert.ok(Object.keys(statuses).length > 0, load);
  }
  assert.deepEqual(
    service.logs.filter(line => /"level":[56]0/.test(line)),
    [],
  );
});

test("the process stays below 1 GB", () => {
  for (const { load, peakMb } of results) assert.ok(peakMb < 1_024, `${load}: ${peakMb} MB`);
});

test("a healthy agent's traces are stored all the time, without long waits, and as before 10 s later", () => {
  for (const { load, healthy, healthyP99Ms, floorP99Ms, recoveredMs } of results) {
    assert.deepEqual([load, Object.keys(healthy)], [load, ["201"]]);
    const waits = `${load}: p99 ${healthyP99Ms} ms, ${floorP99Ms} ms at a bare server that commits`;
    assert.ok(healthyP99Ms < slowMs(floorP99Ms), waits);
    assert.ok(recoveredMs < recoveryMs, `${load}: recovered after ${recoveredMs} ms`);
  }
});
