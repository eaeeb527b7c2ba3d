// A single process, or a worker alone, on a database that allows it too few connections: it starts, and says how many it may need.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, test } from "node:test";
import { type Config, readConfig } from "../../src/config.ts";
import { openLog } from "../../src/log.ts";
import { startService } from "../../src/service.ts";
import { freshDatabase, openFresh } from "../support/postgres.ts";
import { makeScratch } from "../support/scratch.ts";
import { startTestService, type TestServiceOptions } from "../support/service.ts";

const database = await freshDatabase();
after(() => database.drop());

/** The warnings of a start that are about connections. */
async function warningsOf(options: TestServiceOptions): Promise<string[]> {
  const service = await startTestService(options);
  await service.stop();
  return service.logs
    .map(line => JSON.parse(line).msg)
    .filter(text => /connections to the database/.test(text));
}

const words = (least: number, allowed: number, limit = "SVC_DATABASE_CONNECTIONS") =>
  `This service needs up to ${least} connections to the database, and ${allowed} are allowed. Raise ${limit}, or lower SVC_EVALUATORS.`;

test("a service with too few connections for it says so at the start", async () => {
  assert.deepEqual(await warningsOf({ config: { databaseConnections: 36 } }), [words(37, 36)]);
  assert.deepEqual(await warningsOf({ config: { databaseConnections: 37 } }), []);
  assert.deepEqual(await warningsOf({ config: { databaseConnections: 40, evaluators: 2 } }), [words(41, 40)]);
});

test("what the database allows its users counts, less those left to others", async () => {
  const db = openFresh(database.url, 1);
  const name = new URL(database.url).pathname.slice(1);
  const limit = (connections: number) =>
    db.pool.query(`alter database ${name} connection limit ${connections}`);
  await limit(46);
  assert.deepEqual(await warningsOf({ databaseUrl: database.url }), [words(47, 46, "max_connections")]);
  await limit(47);
  assert.deepEqual(await warningsOf({ databaseUrl: database.url }), []);
  await db.close();
});

test("a worker alone counts the connections of its threads, too", async () => {
  const logs: string[] = [];
  const dataDir = makeScratch();
  after(() => rmSync(dataDir, { recursive: true }));
  const worker = { ...readConfig({ DATABASE_URL: database.url, SVC_ROLES: "worker" }), dataDir, port: 0 };
  const start = async (config: Partial<Config>) => {
    const service = await startService(
      { ...worker, evaluators: 1, logLevel: "silent", ...config },
      openLog("debug", { write: line => void logs.push(JSON.parse(line).msg) }),
    );
    await service.stop();
    return logs.splice(0).filter(text => /connections to the database/.test(text));
  };
  assert.deepEqual(await start({ databaseConnections: 11 }), [words(12, 11)]);
  assert.deepEqual(await start({ databaseConnections: 16, evaluators: 2 }), []);
  assert.deepEqual(await start({}), []);
});
