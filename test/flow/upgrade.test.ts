// An upgrade keeps everything: the next version starts on the database that this one filled, and this one on the dump of the
// release before it; each answers what the version before answered, and goes on.
import assert from "node:assert/strict";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import pg from "pg";
import { emptyDatabase, freshDatabase } from "../support/postgres.ts";
import { checkUpgrade, countRows, fillRelease, type Recorded, readRelease } from "../support/release-data.ts";
import { makeScratch } from "../support/scratch.ts";
import { bootstrapped, signedIn, startProcess, stopProcess, stopProcesses } from "./processes.ts";

const scratch = makeScratch();
after(async () => {
  await stopProcesses();
  rmSync(scratch, { recursive: true, force: true });
});

const checkout = join(import.meta.dirname, "../..");

/** The sources of this version with a further migration and other functions. Returns their folder `src`. */
function nextVersion(): string {
  const folder = join(scratch, "next");
  cpSync(join(checkout, "src"), join(folder, "src"), { recursive: true });
  cpSync(join(checkout, "package.json"), join(folder, "package.json"));
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  const schema = join(folder, "src/store/schema");
  writeFileSync(
    join(schema, "999_next.sql"),
    "alter table agents add column next integer not null default 9;\n",
  );
  appendFileSync(
    join(schema, "functions.sql"),
    "create or replace function next_of(agent uuid) returns integer language sql as 'select next from agents where id = agent';\n",
  );
  return join(folder, "src");
}

test("the next version, with a migration and changed functions, answers the same and evaluates new traces", async () => {
  const database = await freshDatabase();
  after(() => database.drop());
  const env = {
    DATABASE_URL: database.url,
    SVC_DATA_DIR: join(scratch, "data"),
    SVC_DEBOUNCE_MS: "0",
    SVC_ALLOW_PRIVATE_TARGETS: "127.0.0.1",
  };
  const made = await bootstrapped(env);
  const before = await startProcess(env);
  const owner = await signedIn(before, made);
  await fillRelease({ url: before.url, ...made, owner });
  const answers = await readRelease(owner.client, made);
  assert.equal(await stopProcess(before), 0);

  // The judge is gone; an address that may not be called is an answer, and nothing waits for it.
  const service = await startProcess({ ...env, SVC_ALLOW_PRIVATE_TARGETS: "" }, { sources: nextVersion() });
  assert.doesNotMatch(service.logs.join("\n"), /another key/);
  const client = new pg.Client(database.url);
  await client.connect();
  const { rows } = await client.query(
    "select next_of($1) as next from migrations where name = '999_next.sql'",
    [made.agentId],
  );
  assert.deepEqual(rows, [{ next: 9 }]);
  await client.end();
  await checkUpgrade(service.url, { ...made, answers });
  assert.equal(await stopProcess(service), 0);

  await assert.rejects(startProcess(env), /migrated by a newer version of Onlooker \(999_next\.sql\)/);
});

// One release before this version, or none (test/fixtures/upgrade/README.md).
const fixtures = join(import.meta.dirname, "../fixtures/upgrade");
for (const file of readdirSync(fixtures).filter(name => name.endsWith(".sql.gz"))) {
  const release = file.slice(0, -".sql.gz".length);
  const unzipped = (name: string) => gunzipSync(readFileSync(join(fixtures, name))).toString();

  test(`a dump of ${release}: every answer is the same, no row is lost, new traces are evaluated`, async () => {
    const recorded: Recorded & { secretKey: string } = JSON.parse(unzipped(`${release}.json.gz`));
    const database = await emptyDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    after(async () => {
      await client.end();
      await database.drop();
    });
    await client.query(unzipped(file));
    await client.query("set search_path to public"); // pg_dump empties it
    const before = await countRows(client);
    const functions = async () =>
      (await client.query("select hash from migrations where name = 'functions.sql'")).rows;
    const [count, hash] = [before["migrations"]!, await functions()];

    const dataDir = join(scratch, release);
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, "secret.key"), `${recorded.secretKey}\n`, { mode: 0o600 });
    const service = await startProcess({
      DATABASE_URL: database.url,
      SVC_DATA_DIR: dataDir,
      SVC_DEBOUNCE_MS: "0",
    });
    assert.doesNotMatch(service.logs.join("\n"), /another key/);
    const now = await countRows(client);
    for (const [table, rows] of Object.entries(before)) {
      if (!passing.has(table)) assert.ok(now[table]! >= rows, `${table}: ${now[table]} of ${rows} rows`);
    }
    // Else the release could be started beside this version, and would put its functions back.
    const isChanged = JSON.stringify(await functions()) !== JSON.stringify(hash);
    assert.ok(
      !isChanged || now["migrations"]! > count,
      "changed functions need a migration, even an empty one",
    );
    await checkUpgrade(service.url, recorded);
    assert.equal(await stopProcess(service), 0);
  });
}

/** Tables whose rows expire or are used up. */
const passing = new Set([
  ...["sessions", "verifications", "waiting_records"],
  ...["test_state_changes", "alert_schedules", "alert_deliveries"],
]);
