// The service on a Citus cluster, as an operator runs it: svc scale init, processes that find their database distributed, traces in and evaluated, and a move of shards meanwhile.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import pg from "pg";
import { startLoad } from "../../flow/load.ts";
import {
  type Bootstrapped,
  bootstrapped,
  type ServiceProcess,
  serviceName,
  signedIn,
  startProcess,
  stopProcess,
  stopProcesses,
} from "../../flow/processes.ts";
import { makeAgent, makeTest, type Owner } from "../../support/app.ts";
import {
  canonicalBody,
  canonicalSpan,
  encodings,
  exportedSpan,
  exportOf,
  newTraceId,
} from "../../support/bodies.ts";
import { type CitusDatabase, freshCitusDatabase, giveSettings } from "../../support/citus.ts";
import { eventually } from "../../support/eventually.ts";
import { type Line, openLine } from "../../support/line.ts";
import { emptyDatabase } from "../../support/postgres.ts";
import { send, traceIdOf } from "../../support/send.ts";
import { leftOut } from "../support/needs.ts";
import { svc } from "../support/svc.ts";

const skip = await leftOut("citus");

suite("the service on a Citus cluster", { skip }, () => {
  let cluster: CitusDatabase;
  let dataDir: string;
  let env: Record<string, string>;
  let made: Bootstrapped;
  let nodes: [ServiceProcess, ServiceProcess];
  let owner: Owner;
  /** A trace that was stored before the database was distributed. */
  let early: string;
  /** Leads to the first worker. */
  let line: Line;
  /** As the cluster knows them. */
  let workers: { host: string; port: number }[];

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "onlooker-citus-"));
    cluster = await freshCitusDatabase({ migrated: false });
    line = await openLine(cluster.workers[0]!.url);
    workers = [{ host: "127.0.0.1", port: Number(new URL(line.url).port) }, cluster.workers[1]!];
    env = { DATABASE_URL: cluster.url, SVC_DATA_DIR: dataDir, SVC_DEBOUNCE_MS: "0" };
  });
  after(async () => {
    await stopProcesses();
    await cluster?.drop();
    await line?.cut();
    await rm(dataDir, { recursive: true, force: true });
  });

  const init = (variables = env) => svc(["scale", "init", "--shards", "8"], variables);
  const to = (at: number) => ({ url: nodes[at % 2]!.url, key: made.apiKey });

  async function detail(traceId: string) {
    return await owner.client.read(`/api/traces/${traceId}`);
  }

  async function listed(query: Record<string, string>) {
    const path = `/api/agents/${made.agentId}/traces?${new URLSearchParams(query)}` as const;
    return (await owner.client.read(path)).items;
  }

  /** With at least this many evaluations: a batch may arrive before the one before is evaluated, or after. */
  async function evaluated(traceId: string, runs = 1) {
    return eventually(async () => {
      const trace = await detail(traceId);
      assert.ok(trace.runs.length >= runs);
      assert.deepEqual(new Set(trace.runs.map(run => run.state)), new Set(["completed"]));
      return trace;
    });
  }

  /** On the coordinator. */
  async function query(...given: [text: string, values?: unknown[]]) {
    const client = new pg.Client({ connectionString: cluster.url });
    await client.connect();
    try {
      return (await client.query(...given)).rows;
    } finally {
      await client.end();
    }
  }

  test("is not made of a server without Citus, a cluster without workers, or a database in use", async () => {
    const plain = await emptyDatabase();
    const { code, stderr } = await init({ ...env, DATABASE_URL: plain.url });
    await plain.drop();
    assert.deepEqual(
      [code, stderr],
      [2, "The database has no extension citus. Create it on every node, and add the nodes.\n"],
    );
    const without = { ...env };
    delete without["DATABASE_URL"];
    assert.match(
      (await init(without)).stderr,
      /^The embedded PostgreSQL cannot be distributed\. Set DATABASE_URL/,
    );
    // Fails in a moment in which Citus keeps its own tables of nodes in step.
    for (const { host, port } of cluster.workers)
      await eventually(() => query("select citus_remove_node($1, $2)", [host, port]));
    assert.match((await init()).stderr, /^The cluster has no workers\. /);
    for (const { host, port } of workers) await query("select citus_add_node($1, $2)", [host, port]);
    assert.match(
      (await init()).stderr,
      /^Sessions on \S+, a worker of the cluster, lack Onlooker's settings: .* There, run: set .*; alter role .*;\n$/,
    );
    await giveSettings(cluster);

    made = await bootstrapped(env);
    const alone = await startProcess(env);
    const key = made.apiKey;
    const answer = await send({ url: alone.url, key }, { body: canonicalBody(made.agentId) });
    early = traceIdOf(answer);
    const refused = await init();
    assert.equal(refused.code, 2);
    assert.match(
      refused.stderr,
      /Others are connected to the database \(onlooker from 127\.0\.0\.1\)\. Stop all services/,
    );
    assert.equal(await stopProcess(alone), 0);
    assert.deepEqual(await query("select from pg_dist_partition"), []);
  });

  test("is made of a database with traces by svc scale init, once, and is neither backed up nor restored as one server", async () => {
    const done = await init();
    assert.equal(done.code, 0, done.stderr);
    assert.match(
      done.stdout,
      /^Distributed \d+ tables in 8 groups of agents, with \d tables on every node\. Start the services\.\n$/,
    );
    assert.match(done.stderr, /^Distributing traces \(\d+ of \d+\)\.$/m);
    const again = await init();
    assert.deepEqual([again.code, again.stderr], [2, "The database is distributed already.\n"]);
    const file = join(dataDir, "cluster.backup");
    const words = /^This database is distributed over a cluster, .* pg_basebackup, /;
    assert.match((await svc(["backup", file], env)).stderr, words);
  });

  test("is started on by every process, and only at the coordinator", async () => {
    const worker = { ...env, DATABASE_URL: cluster.workers[0]!.url };
    await assert.rejects(
      startProcess(worker),
      /DATABASE_URL leads to a worker of the cluster\. Set it to the coordinator\./,
    );
    nodes = await Promise.all([startProcess(env), startProcess({ ...env, SVC_HTTP_PROCESSES: "2" })]);
    owner = await signedIn(nodes[0], made);
    assert.equal((await detail(early)).spans.length, 1);
    for (const { url } of nodes) assert.equal((await fetch(`${url}/readyz`)).status, 200);
  });

  test("stores, evaluates, lists, re-evaluates and deletes traces of both kinds", async () => {
    await makeTest(owner, made.agentId, { assertions: [{ type: "response_regex", pattern: "Hello" }] });
    const spans = [canonicalSpan({ attributes: { "gen_ai.response.text": "Hello" } })];
    const first = await send(to(0), {
      body: canonicalBody(made.agentId, { spans }),
      headers: { "x-request-id": "first" },
    });
    assert.equal(first.status, 201);
    const traceId = traceIdOf(first);
    const trace = await evaluated(traceId);
    assert.equal(trace.spans.length, 1);
    assert.equal(trace.runs[0]!.verdict, "passed");

    const otlpTraceId = newTraceId();
    for (const [at, encoding] of (["json", "protobuf"] as const).entries()) {
      const { type, body } = encodings[encoding](
        exportOf([exportedSpan({ traceId: otlpTraceId })], serviceName),
      );
      assert.equal((await send(to(at), { type, body })).status, 200);
    }
    const [otlp] = await listed({ externalId: otlpTraceId });
    assert.equal((await evaluated(otlp!.id)).spans.length, 2);

    assert.deepEqual(new Set((await listed({})).map(({ id }) => id)), new Set([early, traceId, otlp!.id]));
    const again = { traceIds: [traceId] };
    const { body: asked } = await owner.client
      .post(`/api/agents/${made.agentId}/judge-again`, again)
      .expect(200);
    assert.equal(asked.scheduled, 1);
    await evaluated(traceId, 2);

    await owner.client.delete(`/api/traces/${otlp!.id}`).expect(204);
    await owner.client.get(`/api/traces/${otlp!.id}`).expect(404);
    assert.deepEqual(await query("select from trace_batches where trace_id = $1", [otlp!.id]), []);
    assert.deepEqual(await query("select from queue where trace_id = $1", [otlp!.id]), []);
    await eventually(async () => {
      const metrics = await (await fetch(`${nodes[0].url}/metrics`)).text();
      assert.match(metrics, /^svc_runs_waiting 0$/m);
    });
  });

  test("loses nothing while an agent's shards are moved to another worker", async () => {
    const load = startLoad({ url: nodes[1].url, ...made });
    const [from] = await query(
      `select shardid as shard, nodename as host, nodeport as port from citus_shards
       where shardid = get_shard_id_for_distribution_column('traces', $1::uuid)`,
      [made.agentId],
    );
    const other = workers.find(({ port }) => port !== from.port)!;
    await eventually(() => assert.ok(load.acknowledged.size > 20));
    await query("select citus_move_shard_placement($1, $2, $3, $4, $5, 'force_logical')", [
      ...[from.shard, from.host, from.port, other.host, other.port],
    ]);
    const moved = load.acknowledged.size;
    await eventually(() => assert.ok(load.acknowledged.size > moved + 20));
    await load.stop();
    // 503 where a statement waited too long for the last moment of the move; then the client sent the trace again.
    assert.deepEqual(
      [...load.statuses.keys()].filter(status => ![200, 201, 503].includes(Number(status))),
      [],
    );
    const stored = await query("select id, external_id from traces where agent_id = $1", [made.agentId]);
    const counts = Map.groupBy(stored, ({ external_id }) => external_id);
    for (const id of load.acknowledged.keys()) assert.equal(counts.get(id)?.length, 1, id);
    const [last] = [...load.acknowledged.keys()].slice(-1);
    const [trace] = await listed({ externalId: last! });
    const { spans } = await evaluated(trace!.id);
    assert.equal(spans[0]!.attributes["gen_ai.response.text"], load.acknowledged.get(last!));
  });

  test("stores and evaluates for agents of the other workers while one is unavailable, and says so", async () => {
    const workerOf = async (agentId: string) => {
      const [{ port }] = await query(
        `select nodeport as port from citus_shards
         where shardid = get_shard_id_for_distribution_column('traces', $1::uuid)`,
        [agentId],
      );
      return port as number;
    };
    const agents = new Map<number, string>();
    for (let made = 0; made < 40 && agents.size < 2; made++) {
      const { id } = await makeAgent(owner);
      agents.set(await workerOf(id), id);
    }
    const [away, here] = workers.map(({ port }) => agents.get(port)!) as [string, string];
    await makeTest(owner, here, {
      passiveBehavior: "always_run",
      assertions: [{ type: "response_regex", pattern: "." }],
    });
    const ready = async () => {
      const answer = await fetch(`${nodes[0].url}/readyz`);
      return [answer.status, (await answer.json()) as { status: string; [more: string]: unknown }] as const;
    };
    const sendTo = async (agentId: string) =>
      (await send(to(0), { body: canonicalBody(agentId), headers: { "x-request-id": agentId } })).status;
    await line.cut();
    assert.deepEqual(await ready(), [200, { status: "degraded", workersUnavailable: 1, workers: 2 }]);
    const metrics = await (await fetch(`${nodes[0].url}/metrics`)).text();
    assert.match(
      metrics,
      new RegExp(`^svc_cluster_worker_unavailable\\{worker="127.0.0.1:${workers[0]!.port}"\\} 1$`, "m"),
    );
    assert.deepEqual([await sendTo(here), await sendTo(away)], [201, 503]);
    await eventually(async () => {
      const path = `/api/agents/${here}/traces?externalId=${here}` as const;
      const { items } = await owner.client.read(path);
      assert.equal(items[0]!.run!.state, "completed");
    });
    await stopProcess(nodes[0]);
    nodes[0] = await startProcess(env);
    assert.deepEqual((await ready())[1].status, "degraded", "it starts, too");
    await line.mend();
    await eventually(async () => assert.deepEqual(await ready(), [200, { status: "ready" }]));
    assert.equal(await sendTo(away), 201);
    owner = await signedIn(nodes[0], made);
  });

  test("stops and starts without losing anything", async () => {
    await stopProcesses();
    const again = await startProcess(env);
    owner = await signedIn(again, made);
    assert.equal((await detail(early)).spans.length, 1);
    assert.equal(await stopProcess(again), 0);
  });
});
