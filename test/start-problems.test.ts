// Problems of the database that a start explains in one line: missing privileges, and TLS in all its forms.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { knownProblem } from "../src/command/known-problem.ts";
import { openEmbedded } from "../src/embedded/database.ts";
import { migrate } from "../src/store/migrate.ts";
import { prepareDatabase } from "../src/store/prepare.ts";
import { runBootstrap, startProcess } from "./flow/processes.ts";
import { childEnv } from "./support/child-env.ts";
import { eventually } from "./support/eventually.ts";
import { startServer } from "./support/postgres-server.ts";
import { makeScratch } from "./support/scratch.ts";

/** Self-signed, and for agent.example.com. */
const certificate = fileURLToPath(new URL("./fixtures/tls/agent.example.com.pem", import.meta.url));
const log = { info() {}, warn() {} };
const cli = join(import.meta.dirname, "../src/cli.ts");
const dataDir = mkdtempSync(join(tmpdir(), "onlooker-start-"));

let server: Awaited<ReturnType<typeof startServer>>;
before(async () => {
  server = await startServer();
});
after(async () => {
  await server.stop();
  rmSync(dataDir, { recursive: true });
});

async function administer(...statements: string[]): Promise<string> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  let value = "";
  for (const statement of statements)
    value = Object.values((await client.query(statement)).rows[0] ?? {}).join();
  await client.end();
  return value;
}

function withParameters(parameters: Record<string, string>): string {
  const url = new URL(server.url);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** The server twice, as one with a standby is given. */
const twice = (url: string) => url.replace(/127\.0\.0\.1:\d+/, "$&,$&");

const neededOptions = [
  ...["--email", "a@example.com", "--password", "correct horse"],
  ...["--project", "P", "--agent", "A"],
];

/** Why a service with this URL does not start. */
async function problemOf(url: string): Promise<string | undefined> {
  const error = await prepareDatabase({ url, directUrl: url, pooled: false }, log, undefined, 0).then(
    () => assert.fail("it starts"),
    (error: unknown) => error,
  );
  return knownProblem(error);
}

/** A changed setting of the server takes effect a moment after it was read. */
const explains = (url: string, problem: RegExp) =>
  eventually(async () => assert.match((await problemOf(url))!, problem));

test("a user without privileges is told so in one line, by the service and by bootstrap", async () => {
  await administer("create user guest password 'guest'");
  const url = new URL(server.url);
  [url.username, url.password] = ["guest", "guest"];
  const env = { DATABASE_URL: url.href, SVC_DATABASE_POOLER: "none", SVC_DATA_DIR: dataDir };
  const problem =
    "the database user has too few privileges (permission denied for schema public). Make it the owner of the database and of Onlooker's tables; in an empty database this suffices: grant create on schema public to …";
  const bootstrap = await runBootstrap(neededOptions, env);
  assert.equal(bootstrap.stderr, `bootstrap: ${problem}\n`);
  assert.equal(bootstrap.code, 1);
  const ended = `The service ended with 1:\nOnlooker cannot start: ${problem}`;
  await assert.rejects(startProcess(env), { message: ended });
});

test("a database with another schema is refused by the service, bootstrap and svc, with how to begin with an empty one", async () => {
  await administer("create database earlier");
  const url = new URL(server.url);
  url.pathname = "/earlier";
  await migrate(url.href);
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query("update migrations set hash = 'other' where name = '002_traces.sql'");
  await client.end();
  const env = { DATABASE_URL: url.href, SVC_DATABASE_POOLER: "none", SVC_DATA_DIR: dataDir };
  const problem =
    "database was created with a different schema (002_traces.sql) and cannot be upgraded; to start over, create an empty database and set DATABASE_URL to it.";
  await assert.rejects(startProcess(env), {
    message: `The service ended with 1:\nOnlooker cannot start: the ${problem}`,
  });
  const bootstrap = await runBootstrap(neededOptions, env);
  assert.deepEqual([bootstrap.code, bootstrap.stderr], [1, `bootstrap: The ${problem}\n`]);
  const svc = spawnSync(process.execPath, [cli, "backup", join(dataDir, "earlier.backup")], {
    env: { ...childEnv, ...env },
    encoding: "utf8",
  });
  assert.equal(svc.status, 2);
  assert.match(svc.stderr, /has the schema of another version of Onlooker \(002_traces\.sql\)\. Back it up/);
});

test("an embedded database with another schema names its folder", async () => {
  const own = makeScratch();
  const embedded = await openEmbedded({ dataDir: own, log: { ...log, error() {} } });
  await migrate(embedded.url);
  const client = new pg.Client({ connectionString: embedded.url });
  await client.connect();
  await client.query("update migrations set hash = 'other' where name = '002_traces.sql'");
  await client.end();
  await embedded.stop();
  const todo = `to start over, move or delete the folder ${join(own, "postgresql")}.`;
  const env = { SVC_DATA_DIR: own };
  await assert.rejects(startProcess(env), ({ message }: Error) => message.endsWith(todo));
  const { stderr } = await runBootstrap(neededOptions, env);
  assert.ok(stderr.endsWith(`${todo}\n`), stderr);
  rmSync(own, { recursive: true });
});

test("a database without a free connection is told apart from one that is away", async () => {
  await administer("create user crowd password 'crowd' connection limit 0");
  const url = new URL(server.url);
  [url.username, url.password] = ["crowd", "crowd"];
  assert.match(
    (await problemOf(url.href))!,
    /^the database has no free connection \(too many connections for role "crowd"\)\. Close .* raise its limit/,
  );
});

test("a rejected login is told apart", async () => {
  const url = new URL(server.url);
  url.password = "wrong";
  assert.match((await problemOf(url.href))!, /^the database rejected the login \(.*\)\. Check the user/);
});

test("a file of the URL that cannot be read is named at once", async () => {
  const sslrootcert = join(dataDir, "none.pem");
  const problem = await problemOf(withParameters({ sslmode: "verify-full", sslrootcert }));
  assert.match(problem!, /^The file of sslrootcert .*ENOENT.*none\.pem'\)\. Fix its path/);
});

test("a server without TLS is told apart from one that is away", async () => {
  const url = withParameters({ sslmode: "verify-full" });
  for (const each of [url, twice(url)]) {
    assert.match((await problemOf(each))!, /^the database does not support TLS, .*sslmode=disable\.$/);
  }
});

test("a certificate that is not trusted, or is for another host, and a server that requires TLS, are explained", async () => {
  const directory = await administer("show data_directory");
  const [pem, hba] = [join(directory, "server.pem"), await administer("show hba_file")];
  copyFileSync(certificate, pem);
  chmodSync(pem, 0o600);
  const { uid, gid } = statSync(directory);
  if (process.getuid?.() === 0) chownSync(pem, uid, gid);
  const reload = "select pg_reload_conf()";
  await administer(
    `alter system set ssl_cert_file = '${pem}'`,
    `alter system set ssl_key_file = '${pem}'`,
    "alter system set ssl = on",
    reload,
  );
  for (const sslmode of ["require", "verify-full"]) {
    const problem = await problemOf(withParameters({ sslmode }));
    assert.match(
      problem!,
      /^the certificate .* is not trusted \(self-signed certificate\)\. Add sslrootcert=/,
    );
  }
  const listed = twice(withParameters({ sslmode: "verify-full" }));
  assert.match((await problemOf(listed))!, /^the certificate .* is not trusted/, "each of several servers");
  const verified = { sslmode: "verify-full", sslrootcert: certificate };
  await explains(withParameters(verified), /^the certificate .* is not for 127\.0\.0\.1\. Use the host/);

  const rules = readFileSync(hba, "utf8");
  writeFileSync(hba, rules.replaceAll(/^host\b/gm, "hostssl"));
  await administer(reload);
  await explains(
    server.url,
    /^the database rejected the connection \(no pg_hba\.conf entry .* no encryption\)\. .* sslmode=verify-full/,
  );
});
