// The embedded database is backed up and restored with the commands of docs/backup.md: what was acknowledged is there,
// secrets can be read, and what waited continues. Without its secret.key, only the stored secrets are lost, and that is said.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { openDatabase } from "../../../src/store/db.ts";
import { startLoad } from "../../flow/load.ts";
import { bootstrapped, signedIn, startProcess, stopProcess, stopProcesses } from "../../flow/processes.ts";
import { commandsWith, fillRestorable } from "../../support/restorable.ts";
import { makeScratch } from "../../support/scratch.ts";

const scratch = makeScratch();
after(async () => {
  await stopProcesses();
  rmSync(scratch, { recursive: true, force: true });
});

const page = readFileSync(join(import.meta.dirname, "../../../docs/backup.md"), "utf8");
const envOf = (folder: string) => ({ SVC_DATA_DIR: join(scratch, folder, "data"), SVC_DEBOUNCE_MS: "0" });

function runIn(folder: string, commands: string): void {
  execFileSync("sh", ["-e", "-c", commands], {
    cwd: join(scratch, folder),
    stdio: ["ignore", "ignore", "inherit"],
  });
}

test("a copy of the stopped data folder restores everything in another folder", async () => {
  for (const name of ["first", "second"]) {
    mkdirSync(join(scratch, name));
    chmodSync(join(scratch, name), 0o755);
  }
  const first = await startProcess(envOf("first"));
  const made = await bootstrapped(envOf("first"));
  const owner = await signedIn(first, made);
  const filled = await fillRestorable({ url: first.url, ...made, owner });
  after(() => filled.close());
  // Stopped under load: whatever was acknowledged is in the copy.
  const load = startLoad({ url: first.url, ...made }, { retries: false });
  while (load.acknowledged.size < 20) await new Promise(resolve => setImmediate(resolve));
  assert.equal(await stopProcess(first), 0);
  await load.stop();
  runIn("first", commandsWith(page, "tar -czf"));
  rmSync(join(scratch, "first/data"), { recursive: true });
  const archive = join(scratch, "first/onlooker-backup.tar.gz");
  runIn("second", commandsWith(page, "tar -xzf").replaceAll("onlooker-backup.tar.gz", archive));

  const second = await startProcess(envOf("second"));
  assert.doesNotMatch(second.logs.join("\n"), /another key/);
  const { rows } = await readAll(join(scratch, "second/data"));
  for (const id of load.acknowledged.keys()) assert.ok(rows.includes(id), `${id} was acknowledged`);
  await filled.check(second.url);
  assert.equal(await stopProcess(second), 0);

  rmSync(join(scratch, "second/data/secret.key"));
  const keyless = await startProcess(envOf("second"));
  assert.match(keyless.logs.join("\n"), /were encrypted with another key/);
  await filled.checkWithoutSecrets(keyless.url);
  assert.equal(await stopProcess(keyless), 0);

  writeFileSync(join(scratch, "second/data/secret.key"), "half a k");
  await assert.rejects(startProcess(envOf("second")), /contains no key. Restore it from your backup/);
});

/** The identities of all traces, read from the embedded server itself. */
async function readAll(dataDir: string): Promise<{ rows: string[] }> {
  const port = readFileSync(join(dataDir, "postgresql/data/postmaster.pid"), "utf8").split("\n")[3];
  const password = readFileSync(join(dataDir, "postgresql/password"), "utf8").trim();
  const db = openDatabase(`postgres://onlooker:${password}@127.0.0.1:${port}/onlooker`, 1);
  const { rows } = await db.pool.query<{ id: string }>("select external_id as id from traces");
  await db.close();
  return { rows: rows.map(({ id }) => id) };
}
