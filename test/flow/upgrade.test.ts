// An upgrade keeps everything: this version starts on the dump of a database that the release before filled, answers what
// that release answered, and goes on. test/wide/databases/upgrade.test.ts does the same with a data folder.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import pg from "pg";
import { emptyDatabase } from "../support/postgres.ts";
import { checkUpgrade, countRows, type Recorded } from "../support/release-data.ts";
import { makeScratch } from "../support/scratch.ts";
import { startProcess, stopProcess, stopProcesses } from "./processes.ts";

const scratch = makeScratch();
after(async () => {
  await stopProcesses();
  rmSync(scratch, { recursive: true, force: true });
});

const fixture = (name: string) =>
  gunzipSync(readFileSync(join(import.meta.dirname, "../fixtures/upgrade", name))).toString();

test("a dump of the release before: every answer is the same, no row is lost, new traces are evaluated", async () => {
  const recorded: Recorded & { secretKey: string } = JSON.parse(fixture("release.json.gz"));
  const database = await emptyDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  after(async () => {
    await client.end();
    await database.drop();
  });
  await client.query(fixture("dump.sql.gz"));
  await client.query("set search_path to public"); // pg_dump empties it
  const before = await countRows(client);
  assert.ok(
    before["traces"]! > 3 && before["labels"]! > 0 && before["erasures"]! > 0,
    JSON.stringify(before),
  );

  const dataDir = join(scratch, "data");
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "secret.key"), `${recorded.secretKey}\n`, { mode: 0o600 });
  const service = await startProcess({
    DATABASE_URL: database.url,
    SVC_DATA_DIR: dataDir,
    SVC_DEBOUNCE_MS: "0",
  });
  assert.match(service.logs.join("\n"), /Database migrated/);
  assert.doesNotMatch(service.logs.join("\n"), /another key/);
  const now = await countRows(client);
  for (const [table, count] of Object.entries(before)) {
    if (!passing.has(table)) assert.ok(now[table]! >= count, `${table}: ${now[table]} of ${count} rows`);
  }
  await checkUpgrade(service.url, recorded);
  assert.equal(await stopProcess(service), 0);
});

/** What waits for something in them goes by itself. */
const passing = new Set([
  ...["sessions", "verifications", "backfills", "waiting_records"],
  ...["test_state_changes", "alert_schedules", "alert_deliveries"],
]);
