// Tests Onlooker behind PgBouncer with the sample of docs/deploying.md: the whole journey on two nodes, what the check at
// start says, and the tests of flows that start services.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import pg from "pg";
import { sessionSettings } from "../../../src/store/connection/session-settings.ts";
import { UnfitDatabaseError } from "../../../src/store/connection/unfit-database.ts";
import { checkSessions } from "../../../src/store/session-check.ts";
import { assertOnly, startLoad } from "../../flow/load.ts";
import {
  bootstrapped,
  httpProcessesOf,
  isRunning,
  type ServiceProcess,
  serviceName,
  signedIn,
  startProcess,
  stopProcess,
  stopProcesses,
} from "../../flow/processes.ts";
import { makeAgent, makeKey, makeTest } from "../../support/app.ts";
import { canonicalBody, canonicalSpan, exportedSpan, exportOf } from "../../support/bodies.ts";
import { childEnv } from "../../support/child-env.ts";
import { newClient } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import { freshDatabase } from "../../support/postgres.ts";
import { send } from "../../support/send.ts";
import { openLiveEvents } from "../support/live-events.ts";
import { leftOut } from "../support/needs.ts";
import { type PgBouncer, startPgBouncer } from "../support/pgbouncer.ts";
import { replaced } from "../support/proxies.ts";

const skip = await leftOut("pgbouncer");

suite("behind PgBouncer", { skip }, () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  /** Without a schema yet. */
  let empty: string;
  let pooler: PgBouncer;
  const since = performance.now();
  before(async () => {
    database = await freshDatabase();
    const name = `onlooker_test_${randomBytes(6).toString("hex")}`;
    await run(database.url, `create database ${name}`);
    const url = new URL(database.url);
    url.pathname = `/${name}`;
    empty = url.href;
    pooler = await startPgBouncer(database.url);
  });
  after(async () => {
    await stopProcesses();
    await pooler?.stop();
    if (empty) await run(database.url, `drop database ${new URL(empty).pathname.slice(1)} with (force)`);
    await database?.drop();
    console.log(`pgbouncer: ${((performance.now() - since) / 1000).toFixed(1)} s`);
  });

  test("two nodes migrate, sign users up, store, evaluate and show live what the other one stores", async () => {
    const env = {
      DATABASE_URL: pooler.through(empty),
      SVC_DATABASE_POOLER: "transaction",
      SVC_DATABASE_DIRECT_URL: empty,
      SVC_DEBOUNCE_MS: "200",
    };
    const nodes = await Promise.all([startProcess(env), startProcess(env)]);
    const [one, two] = nodes as [ServiceProcess, ServiceProcess];
    const client = newClient(one.url);
    const account = { email: "owner@example.com", password: "correct horse battery" };
    const { user } = (await client.post("/api/auth/sign-up/email", account).expect(200)).body;
    await run(empty, `update accounts set email_verified = true where id = '${user!.id}'`);
    const projects = await client.read("/api/projects");
    const owner = { client, accountId: user!.id, ...account, projectId: projects.items[0]!.id };
    const agent = await makeAgent(owner, { otlpServiceName: serviceName });
    const { key } = await makeKey(owner);
    await makeTest(owner, agent.id, { assertions: [{ type: "response_regex", pattern: "tomorrow" }] });
    const live = await openLiveEvents(one.url, client.cookie);

    const attributes = { "gen_ai.response.text": "It ships tomorrow." };
    const exported = Object.entries(attributes).map(([name, stringValue]) => ({
      key: name,
      value: { stringValue },
    }));
    const canonical = canonicalBody(agent.id, { spans: [canonicalSpan({ attributes })] });
    const sent = [
      await send({ url: two.url, key }, { body: canonical }),
      await send({ url: two.url, key }, { body: exportOf([exportedSpan({ attributes: exported })]) }),
      // Merges into a stored trace run other statements than new ones.
      ...(await merged(two.url, key, exported)),
    ];
    for (const answer of sent) assert.ok([200, 201].includes(answer.status), answer.bytes.toString());
    const ids = [...new Set(sent.map(({ headers }) => headers["x-svc-trace-id"] as string))];
    assert.equal(ids.length, 3);
    for (const id of ids) {
      await eventually(async () => {
        const { runs } = await client.read(`/api/traces/${id}`);
        assert.equal(runs[0]?.verdict, "passed");
        assert.ok(live.received().includes(id));
      });
    }
    live.close();
    assert.deepEqual(
      nodes.flatMap(({ logs }) => logs).filter(line => /"level":(40|50|60)/.test(line)),
      [],
    );
    for (const node of nodes) assert.equal(await stopProcess(node), 0);
    assert.doesNotMatch(pooler.log(), / ERROR /);
  });

  test("three processes of one machine store and evaluate through it, and leave no process", async () => {
    const made = await bootstrapped({ DATABASE_URL: empty });
    const service = await startProcess({
      DATABASE_URL: pooler.through(empty),
      SVC_DATABASE_POOLER: "transaction",
      SVC_DATABASE_DIRECT_URL: empty,
      SVC_HTTP_PROCESSES: "3",
      SVC_LOG_LEVEL: "debug",
    });
    const { size } = httpProcessesOf(service);
    assert.equal(size, 3);
    const assertions = [{ type: "response_regex", pattern: "^Reply" }];
    await makeTest(await signedIn(service, made), made.agentId, { assertions });
    const load = startLoad({ url: service.url, ...made }, { clients: 6 });
    const acknowledges = (count: number) => eventually(() => assert.ok(load.acknowledged.size >= count));
    await acknowledges(50);
    process.kill(httpProcessesOf(service).get(2)!, "SIGKILL");
    await eventually(() => assert.match(service.logs.join("\n"), /HTTP process 2 is running again/));
    await acknowledges(load.acknowledged.size + 50);
    await load.stop();
    assertOnly(load, [200, 201, 503, "broken"]);
    await eventually(async () => {
      const { rows } = await query(
        empty,
        `select external_id as id, response_text as text from traces join runs on trace_id = traces.id
          where traces.agent_id = $1 and state = 'completed' and verdict = 'passed'`,
        [made.agentId],
      );
      assert.equal(rows.length, load.acknowledged.size);
      assert.deepEqual(new Map(rows.map(({ id, text }) => [id, text])), load.acknowledged);
    });
    const pids = [...httpProcessesOf(service).values()];
    assert.equal(await stopProcess(service), 0);
    assert.deepEqual(pids.filter(isRunning), []);
    assert.doesNotMatch(pooler.log(), / ERROR /);
  });

  const change = (part: string, by: string) =>
    startPgBouncer(database.url, sample => replaced(sample, part, by));
  /** With the settings of the sample, or without. */
  const ignoring = (mode: string, { sets = true } = {}) =>
    startPgBouncer(database.url, sample => {
      const ignores = `pool_mode = ${mode}\nignore_startup_parameters = options`;
      return withSettings(replaced(sample, "pool_mode = transaction", ignores), sets);
    });
  const withSettings = (sample: string, sets: boolean) =>
    sets ? sample : replaced(sample, / connect_query='[^']*'/.exec(sample)![0], "");
  const name = () => new URL(database.url).pathname.slice(1);
  /** As an operator does for a user of Onlooker's own. */
  const giveSettings = () =>
    run(
      database.url,
      Object.entries(sessionSettings)
        .map(([key, value]) => `alter role current_user in database ${name()} set ${key} = '${value}'`)
        .join("; "),
    );
  const takeSettings = () => run(database.url, `alter role current_user in database ${name()} reset all`);
  const check = (url: string, directUrl = url, pooled = false) =>
    checkSessions({ url, directUrl, pooled }, { info() {}, warn() {} } as never);
  const refuses = (started: Promise<void>, expected: RegExp) =>
    assert.rejects(started, error => {
      assert.ok(error instanceof UnfitDatabaseError, String(error));
      assert.match(error.message, expected);
      return true;
    });

  test("says what to set if the pooler is not declared, whatever it does with settings", async () => {
    const url = pooler.through(database.url);
    await refuses(check(url), /rejects Onlooker's settings .*Set SVC_DATABASE_POOLER=transaction, and/);
    const drops = await ignoring("transaction", { sets: false });
    const sets = await ignoring("transaction");
    try {
      await refuses(check(drops.through(database.url)), /drops Onlooker's settings: \w+ is \w+ instead of/);
      await refuses(
        check(sets.through(database.url)),
        /pools transactions, not sessions.*Set SVC_DATABASE_POOLER/,
      );
    } finally {
      await drops.stop();
      await sets.stop();
    }
  });

  test("changes nothing of the user whose sessions the pooler has", async () => {
    await check(pooler.through(database.url), database.url, true);
    const { rows } = await query(
      database.url,
      "select from pg_db_role_setting where setdatabase in (0, (select oid from pg_database where datname = $1))",
      [name()],
    );
    assert.equal(rows.length, 0);
  });

  test("accepts a pooler of sessions that keeps the user's settings, declared or not", async () => {
    await giveSettings();
    const sessions = await ignoring("session", { sets: false });
    try {
      await check(sessions.through(database.url));
      await check(sessions.through(database.url), database.url, true);
    } finally {
      await sessions.stop();
      await takeSettings();
    }
  });

  test("refuses a pooler of statements, a direct URL through the pooler, and another database", async () => {
    const url = pooler.through(database.url);
    await refuses(check(url, url, true), /^SVC_DATABASE_DIRECT_URL leads to a pooler\. Set it to/);
    await refuses(check(url, empty, true), /lead to two databases/);
    const drops = await ignoring("transaction");
    await refuses(
      check(url, drops.through(database.url), true),
      /^SVC_DATABASE_DIRECT_URL leads to a pooler\./,
    );
    await drops.stop();
    const statements = await change("pool_mode = transaction", "pool_mode = statement");
    await refuses(check(statements.through(database.url), database.url, true), /pool_mode = transaction\.$/);
    await statements.stop();
  });

  test("refuses sessions without its settings, also those older than the settings, until the pooler reconnects", async () => {
    const plain = await startPgBouncer(database.url, sample => withSettings(sample, false));
    const url = plain.through(database.url);
    try {
      const lacking =
        /sessions without Onlooker's settings: \w+ is \w+ instead of \w+\. .*alter role \w+ in database \w+ set .*; Then run RECONNECT/;
      await refuses(check(url, database.url, true), lacking);
      await giveSettings();
      await refuses(check(url, database.url, true), lacking);
      await run(plain.through("postgres://x/pgbouncer"), "reconnect", database.url);
      await check(url, database.url, true);
    } finally {
      await plain.stop();
      await takeSettings();
    }
  });

  test("passes the tests of flows that start services", async () => {
    const loggedBefore = pooler.log().length;
    const files = ["two-processes", "evaluation", "worker-killed"];
    const root = join(import.meta.dirname, "../../..");
    const args = ["scripts/test.ts", ...files.map(file => `test/flow/${file}.test.ts`)];
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: {
        ...childEnv,
        SVC_TEST_DATABASE_URL: database.url,
        SVC_TEST_POOLER: pooler.address,
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", text => {
      output += text;
    });
    const [code] = await once(child, "close");
    assert.equal(code, 0, output);
    assert.match(output, /\n[1-9]\d+ passed, 0 failed\n$/);
    assert.match(pooler.log().slice(loggedBefore), /login attempt: db=onlooker_test_/);
  });
});

/** Two batches of one trace. */
async function merged(url: string, key: string, attributes: unknown[]) {
  const span = exportedSpan({ attributes });
  const child = exportedSpan({ traceId: span["traceId"], parentSpanId: span["spanId"] });
  return [
    await send({ url, key }, { body: exportOf([span]) }),
    await send({ url, key }, { body: exportOf([child]) }),
  ];
}

/** Runs one statement; the user is that of `url` or of another URL. */
async function run(url: string, sql: string, userUrl = url): Promise<void> {
  await query(url, sql, [], userUrl);
}

async function query(url: string, sql: string, values: unknown[], userUrl = url) {
  const { username, password } = new URL(userUrl);
  const to = new URL(url);
  const client = new pg.Client({
    ...{ host: to.hostname, port: Number(to.port), database: to.pathname.slice(1) },
    ...{ user: username, password: decodeURIComponent(password) },
  });
  await client.connect();
  try {
    return await client.query(sql, values);
  } finally {
    await client.end();
  }
}
