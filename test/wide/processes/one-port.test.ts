// Three processes that serve HTTP on one port are one service: with the same sessions, keys, limits, events and metrics,
// and without losing what was acknowledged when one is killed.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get, type IncomingMessage, request } from "node:http";
import { after, before, suite, test } from "node:test";
import { wrongPasswordsMax } from "../../../src/http/accounts/attempt-limits.ts";
import { type Database, openDatabase } from "../../../src/store/db.ts";
import { keepAliveClient } from "../../flow/keep-alive.ts";
import { assertOnly, startLoad } from "../../flow/load.ts";
import {
  type Bootstrapped,
  bootstrapped,
  heapFlags,
  httpProcessesOf,
  type ServiceProcess,
  signedIn,
  startProcess,
  stopProcess,
  stopProcesses,
} from "../../flow/processes.ts";
import { makeKey, type Owner } from "../../support/app.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { freshDatabase } from "../../support/postgres.ts";
import { send, traceIdOf } from "../../support/send.ts";

const processes = 3;
/** A few more than three processes with the smallest pools need. */
const connections = 60;

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: Database;
let made: Bootstrapped;
let service: ServiceProcess;
let owner: Owner;

before(async () => {
  database = await freshDatabase();
  db = openDatabase(database.url, 2);
  made = await bootstrapped({ DATABASE_URL: database.url });
  service = await startProcess({
    DATABASE_URL: database.url,
    SVC_HTTP_PROCESSES: String(processes),
    SVC_DATABASE_CONNECTIONS: String(connections),
    SVC_LOG_LEVEL: "debug",
    SVC_DEBOUNCE_MS: "0",
  });
  owner = await signedIn(service, made);
});
after(async () => {
  await stopProcesses();
  await db.close();
  await database.drop();
});

const to = (key = made.apiKey) => ({ url: service.url, key });
const body = () => canonicalBody(made.agentId, { spans: [canonicalSpan()] });

/** As often as connections, which the processes take in turns, reach each of them twice. */
const twiceEach = Array.from({ length: 2 * processes }, (_, index) => index);

async function metric(name: string): Promise<number> {
  const { bytes } = await send(to(), { method: "GET", path: "/metrics", key: null, type: null });
  const lines = bytes.toString().split("\n");
  const values = lines.filter(line => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  return values.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

/** The status of a request with a session on a new connection. */
async function statusOf(path: string): Promise<number> {
  const outgoing = get(service.url + path, { agent: false, headers: { cookie: owner.client.cookie } });
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode!;
}

suite("three HTTP processes", () => {
  test("have each a number, and the log says which one wrote a line", async () => {
    assert.deepEqual([...httpProcessesOf(service).keys()].sort(), [1, 2, 3]);
    assert.equal(new Set(httpProcessesOf(service).values()).size, processes);
    assert.equal(service.logs.filter(line => line.includes("ready at")).length, 1);
  });

  test("collect garbage with the flags of the process that leads them", () => {
    for (const pid of httpProcessesOf(service).values()) {
      const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      assert.ok(heapFlags.length > 0);
      for (const flag of heapFlags) assert.ok(args.includes(flag), `${args} lack ${flag}`);
    }
  });

  test("know each other's sessions", async () => {
    for (const _ of twiceEach) assert.equal(await statusOf("/api/projects"), 200);
  });

  test("count every request and span exactly once in the metrics of all", async () => {
    const names = ["svc_ingest_requests_total", "svc_ingest_spans_total"];
    const before = await Promise.all(names.map(metric));
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => send(to(), { body: body(), headers: {} })),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
    // Each process repeats what it gathered for a second.
    for (const _ of twiceEach) {
      await eventually(async () => {
        const now = await Promise.all(names.map(metric));
        assert.deepEqual(now, [before[0]! + 40, before[1]! + 40]);
      });
    }
    assert.equal(await metric("svc_http_processes"), processes);
  });

  test("refuse a revoked key at once, on connections that were open before", async () => {
    const { id, key } = await makeKey(owner);
    const clients = twiceEach.map(() => keepAliveClient(service.url, key));
    const bytes = Buffer.from(JSON.stringify(body()));
    for (const client of clients) assert.equal(await client.post(bytes), 201);
    await owner.client.delete(`/api/keys/${id}`).expect(204);
    for (const client of clients) assert.equal(await client.post(bytes), 401);
    for (const client of clients) client.close();
  });

  test("tell a browser of what reached another process", async () => {
    const streams = await Promise.all(
      twiceEach.map(async () => {
        const headers = { cookie: owner.client.cookie };
        const outgoing = get(`${service.url}/api/events`, { agent: false, headers });
        const [response] = (await once(outgoing, "response")) as [IncomingMessage];
        const heard: string[] = [];
        response.on("error", () => {}); // closed below
        response.setEncoding("utf8").on("data", text => heard.push(text));
        return { outgoing, heard };
      }),
    );
    const traceId = traceIdOf(await send(to(), { body: body() }));
    for (const { outgoing, heard } of streams) {
      await eventually(() => assert.ok(heard.join("").includes(traceId)));
      outgoing.destroy();
    }
  });

  test("limit wrong passwords together", async () => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < wrongPasswordsMax.ofClientIn5Minutes + 3; attempt++) {
      const { status } = await send(to(), {
        path: "/api/auth/sign-in/email",
        key: null,
        headers: { origin: service.url },
        body: { email: "nobody@example.com", password: "wrong password" },
      });
      statuses.push(status);
    }
    const expected = Array.from({ length: wrongPasswordsMax.ofClientIn5Minutes }, () => 401);
    assert.deepEqual(statuses, [...expected, 429, 429, 429]);
  });

  test("share the places for large bodies", async () => {
    // A key may hold two of four; the third upload is for another process.
    const headers = {
      "x-api-key": made.apiKey,
      "content-type": "application/json",
      "content-length": 2_000_000,
    };
    const uploads = twiceEach.map(() => {
      const upload = request(`${service.url}/public/traces`, { method: "POST", agent: false, headers });
      upload.on("error", () => {}); // destroyed below
      upload.flushHeaders();
      return upload;
    });
    const answered = uploads.map(async upload => {
      const [response] = (await once(upload, "response")) as [IncomingMessage];
      return response.statusCode;
    });
    assert.equal(await Promise.race(answered), 429);
    for (const upload of uploads) upload.destroy();
    for (const answer of answered) void answer.catch(() => {});
  });

  test("count a process once when it is killed while the metrics are put together", async () => {
    const counted = await metric("svc_ingest_spans_total");
    const killed = httpProcessesOf(service).get(1)!;
    // It does not say what it counted: the one that leads waits for that a second.
    process.kill(killed, "SIGSTOP");
    const asked = Array.from({ length: processes }, () =>
      metric("svc_ingest_spans_total").catch(() => "closed" as const),
    );
    // One connection at most waits for the process that hangs, so by then the others have asked.
    for (const _ of twiceEach.slice(processes)) await statusOf("/healthz");
    process.kill(killed, "SIGKILL");
    for (const answer of await Promise.all(asked)) if (answer !== "closed") assert.equal(answer, counted);
    await eventually(() => assert.notEqual(httpProcessesOf(service).get(1), killed));
  });

  test("under load lose nothing when one is killed, stay under the limit of connections, and stop cleanly", async () => {
    const before = httpProcessesOf(service);
    const load = startLoad({ url: service.url, ...made }, { clients: 8 });
    const sampled: number[] = [];
    const sampling = setInterval(async () => {
      const { rows } = await db.pool.query<{ count: number }>(
        "select count(*)::int as count from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      );
      sampled.push(rows[0]!.count);
    }, 100);
    await eventually(() => assert.ok(load.acknowledged.size > 50));
    const counted = await metric("svc_ingest_spans_total");
    process.kill(before.get(2)!, "SIGKILL");

    // The others answer meanwhile. A connection that was handed to the killed process is closed, and made again.
    let refused = 0;
    await eventually(async () => {
      for (const _ of twiceEach) {
        const status = await statusOf("/api/projects").catch(() => "closed");
        if (status === "closed") refused++;
        else assert.equal(status, 200);
      }
      assert.notEqual(httpProcessesOf(service).get(2), before.get(2));
    });
    assert.ok(refused <= 1, `${refused} connections were closed`);
    assert.ok((await metric("svc_ingest_spans_total")) >= counted, "counters never go back");
    assert.equal(await metric("svc_http_processes"), processes);
    assert.equal(await metric("svc_http_processes_ended_total"), 2);
    assert.equal(service.logs.filter(line => line.includes("HTTP process 2 ended (SIGKILL)")).length, 1);

    await load.stop();
    assertOnly(load, [200, 201, "broken"]);

    const last = startLoad({ url: service.url, ...made }, { clients: 8, retries: false });
    await eventually(() => assert.ok(last.acknowledged.size > 50));
    assert.equal(await stopProcess(service), 0);
    await last.stop();
    clearInterval(sampling);
    assertOnly(last, [200, 201, "broken"]);
    assert.ok(Math.max(...sampled) <= connections, `${Math.max(...sampled)} connections`);
    const { rows } = await db.pool.query<{ id: string; text: string }>(
      "select external_id as id, response_text as text from traces",
    );
    const stored = new Map(rows.map(({ id, text }) => [id, text]));
    for (const [id, text] of [...load.acknowledged, ...last.acknowledged]) assert.equal(stored.get(id), text);
    for (const pid of httpProcessesOf(service).values())
      assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
  });
});
