// Tests failover with a real primary and its streaming standby: the primary dies or hangs under load, the standby is
// promoted, and the service continues without a restart or losing anything that it acknowledged.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import pg from "pg";
import { assertOnly, type Load, startLoad } from "../../flow/load.ts";
import {
  bootstrapped,
  type ServiceProcess,
  signedIn,
  startProcess,
  stopProcess,
  stopProcesses,
} from "../../flow/processes.ts";
import { makeTest } from "../../support/app.ts";
import { canonicalBody } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { send } from "../../support/send.ts";
import { type LiveEvents, openLiveEvents } from "../support/live-events.ts";
import { leftOut } from "../support/needs.ts";
import { type Pair, startPair } from "../support/replication.ts";

const skip = await leftOut("linux-x64");

suite("failover to a standby", { skip }, () => {
  const since = performance.now();
  const pairs: Pair[] = [];
  after(async () => {
    await stopProcesses();
    for (const pair of pairs) await pair.stop();
    console.log(`failover: ${((performance.now() - since) / 1000).toFixed(1)} s`);
  });

  async function started() {
    const pair = await startPair({ synchronous: true });
    pairs.push(pair);
    const env = { DATABASE_URL: pair.url, SVC_LEASE_MS: "1000" };
    const made = await bootstrapped(env);
    const service = await startProcess(env);
    const owner = await signedIn(service, made);
    await makeTest(owner, made.agentId, { assertions: [{ type: "response_regex", pattern: "^Reply" }] });
    const live = await openLiveEvents(service.url, owner.client.cookie);
    return { pair, made, service, live };
  }

  test("loses no acknowledged trace when the primary is killed under load, and recovers without a restart", async () => {
    const { pair, made, service, live } = await started();
    const load = startLoad({ url: service.url, ...made });
    await acknowledges(load, 100);
    // Without its standby the primary confirms nothing, so that nothing is acknowledged which the standby does not have.
    pair.standby.freeze();
    await refuses(service, made);
    await pair.primary.kill();
    const killed = performance.now();
    pair.standby.thaw();
    await refuses(service, made);
    const promoted = performance.now();
    await pair.standby.promote();
    await acknowledges(load, 1);
    const seconds = (from: number) => ((performance.now() - from) / 1000).toFixed(1);
    console.log(
      `a trace was stored ${seconds(promoted)} s after the promotion, ${seconds(killed)} s after the kill`,
    );
    await acknowledges(load, 100);
    await load.stop();
    assertOnly(load, [200, 201, 503]);
    await everythingIsThere(pair.standby.url, load);
    await refreshesAll(live);
    await showsLive(service, made, live);

    // The former primary comes back as one while the new one is down: what is written there would be lost.
    const count = async () =>
      (await query(pair.primary.url, "select count(*)::int as n from traces"))[0]!["n"];
    await pair.primary.restart();
    await query(pair.primary.url, "alter system set synchronous_standby_names = ''");
    await query(pair.primary.url, "select pg_reload_conf()");
    const before = await count();
    await pair.standby.kill();
    await refuses(service, made);
    await eventually(() => assert.match(service.logs.join("\n"), /127\.0\.0\.1:\d+ \(a former primary\)/));
    assert.equal(await count(), before);
    await pair.standby.restart();
    await eventually(async () => assert.equal((await post(service, made)).status, 201));
    assert.equal(await count(), before);
    live.close();
    assert.equal(await stopProcess(service), 0);
  });

  test("gives up a primary that hangs with its connections open", async () => {
    const { pair, made, service, live } = await started();
    const load = startLoad({ url: service.url, ...made });
    await acknowledges(load, 100);
    pair.primary.freeze();
    const frozen = performance.now();
    await pair.standby.promote();
    await acknowledges(load, 100);
    console.log(
      `traces were stored again ${((performance.now() - frozen) / 1000).toFixed(1)} s after the primary hung`,
    );
    await load.stop();
    assertOnly(load, [200, 201, 503]);
    await everythingIsThere(pair.standby.url, load);
    await refreshesAll(live);
    await showsLive(service, made, live);
    live.close();
    assert.equal(await stopProcess(service), 0);
  });
});

type Made = { agentId: string; apiKey: string };

function post(service: ServiceProcess, { agentId, apiKey: key }: Made) {
  return send({ url: service.url, key }, { body: canonicalBody(agentId) });
}

/** Resolves once a trace is answered 503. */
async function refuses(service: ServiceProcess, made: Made): Promise<void> {
  await eventually(async () => {
    const { status, headers } = await post(service, made);
    assert.equal(status, 503);
    assert.match(String(headers["retry-after"]), /^[23]$/);
  });
}

async function acknowledges(load: Load, more: number): Promise<void> {
  const before = load.acknowledged.size;
  await eventually(() => assert.ok(load.acknowledged.size >= before + more));
}

/** Resolves once the service listens to the database again: what happened before is one refresh of all agents. */
async function refreshesAll(live: LiveEvents): Promise<void> {
  const refreshOfAll = `event: refresh\ndata: ${JSON.stringify({ type: "refresh", agentId: null })}`;
  await eventually(() => assert.ok(live.received().includes(refreshOfAll)));
}

async function showsLive(service: ServiceProcess, made: Made, live: LiveEvents): Promise<void> {
  const { headers, status } = await post(service, made);
  assert.equal(status, 201);
  await eventually(() => assert.ok(live.received().includes(headers["x-svc-trace-id"] as string)));
}

/** Each acknowledged trace once, as it was sent, and evaluated. */
async function everythingIsThere(url: string, load: Load): Promise<void> {
  await eventually(async () => {
    const rows = await query(
      url,
      `select external_id as id, response_text as text, count(runs.id)::int as runs from traces
        join runs on trace_id = traces.id and state = 'completed' and verdict = 'passed'
        where response_text is not null group by 1, 2`,
    );
    assert.deepEqual(new Map(rows.map(({ id, text }) => [id, text])), load.acknowledged);
    assert.ok(rows.every(({ runs }) => runs === 1));
  });
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
