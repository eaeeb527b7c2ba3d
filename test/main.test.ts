// The service's output: text at a terminal, JSON lines for programs, and why it does not start.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import pg from "pg";
import { advisoryLocks } from "../src/model/advisory-locks.ts";
import { childrenOf } from "./flow/processes.ts";
import { newClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { freshDatabase } from "./support/postgres.ts";
import { makeScratch } from "./support/scratch.ts";
import { runOnTerminal } from "./support/terminal.ts";

const database = await freshDatabase();
const dataDir = mkdtempSync(join(tmpdir(), "onlooker-main-"));
after(async () => {
  await database.drop();
  for (const folder of [dataDir, scratch]) rmSync(folder, { recursive: true });
});
const scratch = makeScratch();
const main = join(import.meta.dirname, "../src/main.ts");
const ctrlC = "\u0003";

function start(env: Record<string, string> = {}) {
  const variables = { DATABASE_URL: database.url, SVC_DATA_DIR: dataDir, PORT: "0", SVC_EVALUATORS: "1" };
  const terminal = runOnTerminal([process.execPath, main], { ...variables, ...env });
  after(() => terminal.child.kill("SIGKILL"));
  return terminal;
}

test("a terminal shows where the service and its data are, the links of emails, and how to stop", async () => {
  const { output, type, ended } = start();
  await eventually(() => assert.match(output(), /Press Ctrl-C/));
  const { host } = new URL(database.url);
  const [, url] = /^Onlooker is ready at (http:\S+)$/m.exec(output())!;
  assert.equal(
    output(),
    `\nOnlooker is ready at ${url}\nIts data is in the database at ${host} and in ${dataDir}\nPress Ctrl-C to stop it\n\n`,
  );

  const account = { email: "new@example.com", password: "correct horse battery", name: "New" };
  await newClient(url!).post("/api/auth/sign-up/email", account).expect(200);
  await eventually(() => assert.match(output(), /new@example\.com.* http:\S+\/verify-email\?token=\S+/));
  type(ctrlC);
  assert.equal(await ended, 0);
  assert.match(output(), /^\d\d:\d\d:\d\d {2}Stopped$/m);
});

test("a first start at a terminal says that it creates the database, and nothing else before it is ready", async () => {
  const { output, type, ended } = start({ DATABASE_URL: "", SVC_DATA_DIR: join(scratch, "data") });
  await eventually(() => assert.match(output(), /Press Ctrl-C/));
  assert.match(
    output(),
    new RegExp(
      `^\\d\\d:\\d\\d:\\d\\d {2}Creating the database in ${scratch}/data\n\nOnlooker is ready at \\S+\nIts data is in ${scratch}/data\n`,
    ),
  );
  type(ctrlC);
  assert.equal(await ended, 0);
});

test("with SVC_LOG_FORMAT=json a terminal gets only JSON lines", async () => {
  const { output, type, ended } = start({ SVC_LOG_FORMAT: "json" });
  await eventually(() => assert.match(output(), /Onlooker is ready at http:/));
  type(ctrlC);
  assert.equal(await ended, 0);
  const lines = output()
    .split("\n")
    .map(line => line.replace(/^\^C/, "")) // what the terminal echoes of the key
    .filter(Boolean);
  assert.ok(lines.length >= 3);
  for (const line of lines) assert.equal(typeof JSON.parse(line).msg, "string");
});

test("Ctrl-C while HTTP processes are starting stops the service without a stack", {
  skip: process.platform !== "linux" && "/proc names the processes",
}, async () => {
  const { child, output, type, ended } = start({ SVC_HTTP_PROCESSES: "3" });
  // They cannot handle a signal before they have loaded their code, and the terminal sends it to them, too.
  await eventually(() => assert.equal(childrenOf(childrenOf(child.pid!)[0]!).filter(Boolean).length, 3));
  type(ctrlC);
  assert.equal(await ended, 0, output());
  assert.match(output(), /Stopp/);
  assert.doesNotMatch(output(), /\bat .*\.(?:ts|js):/);
});

test("Ctrl-C while the service waits for its database stops it immediately, without an error", async () => {
  const { output, type, ended } = start({ DATABASE_URL: "postgresql://nobody@127.0.0.1:1/none" });
  await eventually(() => assert.match(output(), /Waiting for the database/));
  type(ctrlC);
  assert.equal(await ended, 0, output());
  assert.match(output(), /Stopped while starting$/m);
  assert.doesNotMatch(output(), /cannot start|cannot be reached|\bat .*\.(?:ts|js):/);
});

test("Ctrl-C while the service waits for another's migration stops it immediately, without an error", async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query("select pg_advisory_lock($1)", [advisoryLocks.schema]);
  try {
    const { output, type, ended } = start();
    const waiting = "select from pg_locks where locktype = 'advisory' and not granted";
    await eventually(async () => assert.equal((await client.query(waiting)).rowCount, 1));
    const begun = performance.now();
    type(ctrlC);
    assert.equal(await ended, 0, output());
    assert.ok(performance.now() - begun < 10_000);
    assert.match(output(), /Stopped while starting$/m);
    assert.doesNotMatch(output(), /cannot start|Could not stop|\bat .*\.(?:ts|js):/);
  } finally {
    await client.end();
  }
});

test("a terminal shows why the service does not start, and what to do", async () => {
  const taken = createServer();
  const port = await new Promise<number>(resolve => {
    taken.listen(0, "127.0.0.1", () => resolve((taken.address() as { port: number }).port));
  });
  after(() => taken.close());
  const inUse = start({ PORT: String(port) });
  assert.equal(await inUse.ended, 1);
  assert.match(
    inUse.output(),
    new RegExp(`cannot start: port ${port} is already in use\\.\\S*\\nStop the program`),
  );

  const missing = new URL(database.url);
  missing.pathname = "/no_such_database";
  const absent = start({ DATABASE_URL: missing.href });
  assert.equal(await absent.ended, 1);
  assert.match(
    absent.output(),
    /the database does not exist \(.*no_such_database.*\)\.\S*\nCreate it, or check/,
  );
  assert.doesNotMatch(absent.output(), /\bat .*\.ts:/);
});

test("a service that others reach warns where every user may call this machine", async () => {
  const { output, ended } = start({
    SVC_HOST: "192.0.2.1",
    SVC_ALLOW_PRIVATE_TARGETS: "10.0.0.0/8,localhost",
  });
  assert.equal(await ended, 1);
  assert.match(output(), /SVC_ALLOW_PRIVATE_TARGETS lets every user of this service call/);
});

test("an address that this machine cannot listen on is one line that names SVC_HOST", async () => {
  for (const env of [{ SVC_HOST: "::g" }, { SVC_HOST: "192.0.2.1", SVC_HTTP_PROCESSES: "2" }]) {
    const { output, ended } = start(env);
    assert.equal(await ended, 1);
    assert.match(output(), /cannot start: SVC_HOST is "[^"]+": .*\.\S*\nSet it to/);
    assert.ok(output().includes(`"${env.SVC_HOST}"`));
    assert.doesNotMatch(output(), /\bat .*\.(?:ts|js):/);
  }
});
