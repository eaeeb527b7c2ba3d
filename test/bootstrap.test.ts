// npm run bootstrap: what a script needs on one line, whether the service runs or not, and nothing twice.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { openDatabase } from "../src/store/db.ts";
import {
  account,
  type Bootstrapped,
  runBootstrap,
  serviceName,
  signedIn,
  startProcess,
  stopProcess,
} from "./flow/processes.ts";
import { canonicalBody, exportedSpan, exportOf } from "./support/bodies.ts";
import { freshDatabase } from "./support/postgres.ts";
import { send } from "./support/send.ts";

const database = await freshDatabase();
const db = openDatabase(database.url);
after(async () => {
  await db.close();
  await database.drop();
});

const needed = ["--email", account.email, "--password", account.password, "--project", "P", "--agent", "A"];

/** The one line on standard output. */
async function made(args: string[], env: Record<string, string> = { DATABASE_URL: database.url }) {
  const { stdout, stderr, code } = await runBootstrap([...needed, "--json", ...args], env);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^\{[^\n]*\}\n$/);
  const answer = JSON.parse(stdout) as Bootstrapped;
  assert.deepEqual(Object.keys(answer), ["projectId", "agentId", "apiKey"]);
  return answer;
}

async function counts() {
  const { rows } = await db.pool.query(
    `select (select count(*)::int from accounts) as accounts, (select count(*)::int from projects) as projects,
      (select count(*)::int from agents) as agents, (select count(*)::int from keys) as keys,
      (select bool_or(email_verified) from accounts) as verified`,
  );
  return rows[0];
}

suite("bootstrap", () => {
  test("creates an account, a project, an agent and a key, once", async () => {
    const first = await made(["--service-name", serviceName]);
    assert.match(first.apiKey, /^svc_[A-Za-z0-9]{32,}$/);
    const once = { accounts: 1, projects: 1, agents: 1, keys: 1, verified: false };
    assert.deepEqual(await counts(), once);
    assert.deepEqual(await made([]), { ...first, apiKey: null });
    assert.deepEqual(await counts(), once);
  });

  test("verifies the account only with --verified", async () => {
    const again = await made(["--verified"]);
    assert.equal(again.apiKey, null);
    assert.equal((await counts()).verified, true);
  });

  test("creates another key only with --new-key", async () => {
    const again = await made(["--new-key"]);
    assert.match(again.apiKey, /^svc_/);
    assert.equal((await counts()).keys, 2);
  });

  test("treats emails that differ in case as the same account", async () => {
    const { stdout, stderr } = await runBootstrap(
      ["--email", account.email.toUpperCase(), ...needed.slice(2), "--json"],
      { DATABASE_URL: database.url },
    );
    assert.equal(JSON.parse(stdout || "{}").apiKey, null, stderr);
    assert.equal((await counts()).accounts, 1);
  });

  test("creates everything once when two run at the same time", async () => {
    const twin = ["--agent", "Twin"];
    const both = await Promise.all([made(twin), made(twin)]);
    assert.equal(both[0].agentId, both[1].agentId);
    assert.equal(both.filter(({ apiKey }) => apiKey !== null).length, 1);
    assert.equal((await counts()).agents, 2);
  });

  test("takes a password with the spaces around it", async () => {
    // Without them it would be too short.
    const { apiKey } = await made(["--email", "spaces@example.com", "--password", " 123456 "]);
    assert.ok(apiKey);
  });

  test("says in one line what is missing or wrong, and nothing on standard output", async () => {
    const env = { DATABASE_URL: database.url };
    const wrong: [string[], Record<string, string>, RegExp][] = [
      [needed.slice(2), env, /^error: required option '--email <email>' not specified\n/],
      [[...needed, "--frobnicate"], env, /--frobnicate/],
      [
        ["--email", "new@example.com", "--password", "short", ...needed.slice(4)],
        env,
        /^--password must have 8 to 128/,
      ],
      [["--email", "nobody", ...needed.slice(2)], env, /^Cannot create the account: Invalid email/],
      [[...needed, "--project", "x".repeat(201)], env, /^error: option '--project <name>' .*200/],
      [[...needed, "--agent", " "], env, /^error: option '--agent <name>' .*empty/],
      [[...needed, "--service-name", "x".repeat(256)], env, /^error: option '--service-name <name>' .*255/],
      [needed, { DATABASE_URL: "mysql://nowhere" }, /^bootstrap: DATABASE_URL .*\n$/],
    ];
    for (const [args, variables, expected] of wrong) {
      const { stdout, stderr, code } = await runBootstrap([...args, "--json"], variables);
      assert.deepEqual([stdout, code], ["", 1]);
      assert.match(stderr, expected);
      assert.doesNotMatch(stderr, /\n\s+at /);
    }
  });
});

suite("bootstrap with the embedded database", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "onlooker-bootstrap-"));
  chmodSync(dataDir, 0o755); // for the user that PostgreSQL runs as when the tests run as root
  after(() => rmSync(dataDir, { recursive: true, force: true }));
  const env = { SVC_DATA_DIR: dataDir };
  const postmaster = join(dataDir, "postgresql", "data", "postmaster.pid");

  test("works before the service's first start and beside it, and its key sends traces once verified", async () => {
    const first = await made(["--service-name", serviceName], env);
    assert.equal(existsSync(postmaster), false);
    const service = await startProcess({ ...env, SVC_LOG_LEVEL: "info" });
    const to = { url: service.url, key: first.apiKey };
    assert.equal((await send(to, { body: canonicalBody(first.agentId) })).status, 403);

    assert.deepEqual(await made(["--verified"], env), { ...first, apiKey: null });
    assert.equal((await send(to, { body: canonicalBody(first.agentId) })).status, 201);
    assert.equal((await send(to, { body: exportOf([exportedSpan()], serviceName) })).status, 200);
    const { client, projectId } = await signedIn(service, first);
    const agents = await client.get(`/api/projects/${projectId}/agents`).expect(200);
    assert.equal(agents.body.items[0]!.id, first.agentId);

    assert.equal(existsSync(postmaster), true);
    assert.equal(await stopProcess(service), 0);
    assert.equal(existsSync(postmaster), false);
  });
});
