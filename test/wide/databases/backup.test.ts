// A database of its own is dumped and restored with the commands of docs/backup.md while the service runs: the dump has
// everything that was acknowledged before it, and everything goes on in the new database.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openDatabase } from "../../../src/store/db.ts";
import { startLoad } from "../../flow/load.ts";
import { bootstrapped, signedIn, startProcess, stopProcess, stopProcesses } from "../../flow/processes.ts";
import { commandsWith, fillRestorable } from "../../support/restorable.ts";
import { debianPostgresql, startDebianPostgresql } from "../support/debian-postgresql.ts";
import { leftOut } from "../support/needs.ts";

const page = readFileSync(join(import.meta.dirname, "../../../docs/backup.md"), "utf8");

test("a dump restores into another database", { skip: await leftOut("postgresql") }, async () => {
  const since = performance.now();
  const scratch = mkdtempSync(join(tmpdir(), "onlooker-dump-"));
  const version = debianPostgresql()!;
  const server = await startDebianPostgresql(version);
  after(async () => {
    await stopProcesses();
    await server.stop();
    rmSync(scratch, { recursive: true, force: true });
    console.log(`backup: ${((performance.now() - since) / 1000).toFixed(1)} s`);
  });
  const envOf = (name: string, url: string) => {
    mkdirSync(join(scratch, name));
    return {
      DATABASE_URL: url,
      SVC_DATA_DIR: join(scratch, name),
      SVC_ALLOW_PRIVATE_TARGETS: "127.0.0.1",
      SVC_DEBOUNCE_MS: "0",
    };
  };
  const admin = openDatabase(server.url, 1);
  for (const name of ["first", "second"]) await admin.pool.query(`create database ${name}`);
  await admin.close();
  const from = envOf("first", server.url.replace(/[^/]*$/, "first"));
  const to = envOf("second", server.url.replace(/[^/]*$/, "second"));
  const run = (commands: string) =>
    execFileSync("sh", ["-e", "-c", commands], {
      cwd: scratch,
      env: {
        PATH: `/usr/lib/postgresql/${version}/bin:${process.env.PATH}`,
        DATABASE_URL: from.DATABASE_URL,
        NEW_DATABASE_URL: to.DATABASE_URL,
      },
      stdio: ["ignore", "ignore", "inherit"],
    });

  const first = await startProcess(from);
  const made = await bootstrapped(from);
  const filled = await fillRestorable({ url: first.url, ...made, owner: await signedIn(first, made) });
  after(() => filled.close());
  const load = startLoad({ url: first.url, ...made }, { retries: false });
  while (load.acknowledged.size < 200) await new Promise(resolve => setImmediate(resolve));
  const acknowledged = [...load.acknowledged.keys()];
  run(commandsWith(page, "pg_dump --format"));
  await load.stop();
  assert.equal(await stopProcess(first), 0);
  run(commandsWith(page, "pg_restore"));

  copyFileSync(join(scratch, "first/secret.key"), join(scratch, "second/secret.key"));
  const second = await startProcess(to);
  assert.doesNotMatch(second.logs.join("\n"), /another key/);
  await filled.check(second.url);
  const db = openDatabase(to.DATABASE_URL, 1);
  const { rows } = await db.pool.query<{ id: string; runs: number }>(
    `select external_id as id, (
        select count(*)::int from (select trace_id from runs union all select trace_id from queue) r where r.trace_id = t.id
      ) as runs from traces t`,
  );
  await db.close();
  const runs = new Map(rows.map(row => [row.id, row.runs]));
  for (const id of acknowledged) assert.equal(runs.get(id), 1, `${id} was acknowledged before the dump`);
  for (const [id, count] of runs) assert.equal(count <= 1, true, `${id} has ${count} runs`);
  assert.equal(await stopProcess(second), 0);

  rmSync(join(scratch, "second/secret.key"));
  const keyless = await startProcess(to);
  assert.match(keyless.logs.join("\n"), /were encrypted with another key/);
  await filled.checkWithoutSecrets(keyless.url);
  assert.equal(await stopProcess(keyless), 0);
});
