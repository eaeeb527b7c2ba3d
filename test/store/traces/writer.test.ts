// The batching writer: every acknowledged write is committed and reported correctly, with other writers at work.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { after, suite, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Refusal } from "../../../src/model/refusal.ts";
import { deleteKey } from "../../../src/store/accounts/keys.ts";
import { partsOf, placeOf } from "../../../src/store/cluster/routing.ts";
import { openDatabase } from "../../../src/store/db.ts";
import { idAt, newest } from "../../../src/store/listing.ts";
import { newId } from "../../../src/store/new-id.ts";
import type { TraceFilters } from "../../../src/store/trace-lists/filters.ts";
import { listTraces } from "../../../src/store/trace-lists/list.ts";
import { insertTraces } from "../../../src/store/traces/insert.ts";
import type { Stored, TraceWrite, WriteOutcome } from "../../../src/store/traces/write.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { loadTrace } from "../../support/loaded-trace.ts";
import { onCitus, openFresh } from "../../support/postgres.ts";
import { endRun } from "../../support/stored-traces.ts";
import { startCuttingProxy } from "../connection/cutting-proxy.ts";
import { begun, waiting } from "../locks.ts";
import {
  canonicalWrite,
  limits,
  makeSender,
  openTwice,
  otlpId,
  otlpWrite,
  type Sender,
} from "./make-write.ts";

const { url, db, other, close } = await openTwice();
after(close);
const writer = new TraceWriter(db, limits);
const otherWriter = new TraceWriter(other, limits);
const sender = await makeSender(db);

const store = (writes: TraceWrite[], by = writer) => Promise.all(writes.map(write => by.write(write)));

/** The refusal's code, or what was stored. */
async function outcomeOf(stored: Promise<Stored>): Promise<Stored | string> {
  try {
    return await stored;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

async function spanIdsOf(traceId: string): Promise<string[]> {
  return (await loadTrace(db, traceId)).trace.spans.map(span => span.span_id);
}

async function textOf(traceId: string): Promise<string | undefined> {
  return (await loadTrace(db, traceId)).derived.responseText?.text;
}

async function runsOf(traceId: string): Promise<{ id: string; state: string }[]> {
  const { rows } = await db.pool.query(
    `select id, state from runs where trace_id = $1 union all select id, state from queue where trace_id = $1
    order by id`,
    [traceId],
  );
  return rows;
}

async function tracesOf({ agentId }: Sender): Promise<{ id: string; external_id: string }[]> {
  const { rows } = await db.pool.query("select id, external_id from traces where agent_id = $1", [agentId]);
  return rows;
}

/** Why a test that puts a proxy, or another database, in place of the one server does not run on a cluster. */
const oneServer = onCitus && "needs one server";

const onlyHere = {
  all: async () => [db],
  available: async () => [db],
  findUnavailable: async () => ({ workers: [], of: 1 }),
};

suite("concurrent writes", () => {
  test("store the new traces of many callers, with their batches and runs, in one statement", async () => {
    const crowd = await makeSender(db);
    const stored = await store(Array.from({ length: 50 }, () => canonicalWrite(crowd)));
    assert.ok(stored.every(({ state, evaluation }) => state === "created" && evaluation === "scheduled"));
    const { rows } = await db.pool.query(
      `select count(distinct made)::int as transactions, count(*)::int as rows from (
         select xmin::text as made from traces where agent_id = $1
         union all select xmin::text from queue where agent_id = $1
         union all select xmin::text from trace_batches where agent_id = $1
       ) all_of_them`,
      [crowd.agentId],
    );
    assert.deepEqual(rows, [{ transactions: 1, rows: 150 }]);
  });

  test("wait for as many whose bodies have arrived, and share their statement", async () => {
    const gathering = await makeSender(db);
    let arriving = 2;
    const patient = new TraceWriter(db, { ...limits, arriving: () => arriving, gatherMs: 10_000 });
    const first = patient.write(canonicalWrite(gathering));
    // Alone, it would be on its way by now.
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    arriving = 1;
    await Promise.all([first, patient.write(canonicalWrite(gathering))]);
    const { rows } = await db.pool.query(
      "select count(distinct xmin::text)::int as transactions, count(*)::int as traces from traces where agent_id = $1",
      [gathering.agentId],
    );
    assert.deepEqual(rows, [{ transactions: 1, traces: 2 }]);
  });

  test("are stored although the bodies that have arrived give none", async () => {
    const patient = new TraceWriter(db, { ...limits, arriving: () => 100 });
    assert.equal((await patient.write(canonicalWrite(sender))).state, "created");
  });

  test("of a key that sends much wait for each other, and others for one transaction at most", async () => {
    const [greedy, other] = [await makeSender(db), await makeSender(db)];
    // With one transaction at a time, they end in the order in which they began.
    const single = new TraceWriter(db, { ...limits, flushesMax: 1 });
    const done: string[] = [];
    const write = async (from: Sender, owner: string) => {
      await single.write({ ...canonicalWrite(from), owners: [owner, owner] });
      done.push(owner);
    };
    const all = Array.from({ length: 600 }, () => write(greedy, "greedy"));
    await Promise.all([...all, write(other, "other")]);
    // A transaction has 128 writes.
    assert.ok(done.indexOf("other") < 128, String(done.indexOf("other")));
  });

  test("create a canonical trace once and replace it once when it arrives twice at the same time", async () => {
    const writes = ["first", "second"].map(text => canonicalWrite(sender, { externalId: "twice", text }));
    const stored = await store(writes);
    assert.deepEqual(stored.map(({ state, revision }) => [state, revision]).sort(), [
      ["created", 1],
      ["replaced", 2],
    ]);
    const traceIds = new Set(stored.map(({ traceId }) => traceId));
    assert.equal(traceIds.size, 1);
    const last = stored.findIndex(({ state }) => state === "replaced");
    assert.equal(await textOf([...traceIds][0]!), ["first", "second"][last]);
  });

  test("create a trace once and merge once when two batches of it arrive at the same time", async () => {
    const writes = [["a"], ["b"]].map(spans => otlpWrite(sender, { externalId: "two batches", spans }));
    const stored = await store(writes);
    assert.deepEqual(stored.map(({ state }) => state).sort(), ["created", "merged"]);
    assert.deepEqual(await spanIdsOf(stored[0]!.traceId), [otlpId("a"), otlpId("b")]);
    assert.equal((await runsOf(stored[0]!.traceId)).length, 1);
  });

  test("do not fail because one of them is invalid", async () => {
    const bad = canonicalWrite(sender, { externalId: "bad" });
    bad.columns = { ...bad.columns, name: "a\0b" };
    const good = Array.from({ length: 5 }, (_, index) =>
      canonicalWrite(sender, { externalId: `good ${index}` }),
    );
    const [first, ...rest] = await Promise.allSettled([bad, ...good].map(write => writer.write(write)));
    assert.equal(first!.status, "rejected");
    assert.ok(rest.every(({ status }) => status === "fulfilled"));
  });

  test("refuse only the traces of an agent that was just deleted, and say what to send", async () => {
    const [gone, there] = [await makeSender(db), await makeSender(db)];
    await db.pool.query("delete from agents where id = $1", [gone.agentId]);
    await assert.rejects(writer.write(otlpWrite(gone)), { hint: /OTEL_SERVICE_NAME/ });
    await assert.rejects(writer.write(canonicalWrite(gone)), { hint: /platformId/ });
    const outcomes = await Promise.all(
      [otlpWrite(gone), canonicalWrite(gone), otlpWrite(there)].map(write => outcomeOf(writer.write(write))),
    );
    assert.deepEqual(outcomes.slice(0, 2), ["OTLP_PLATFORM_NOT_FOUND", "CUSTOM_API_PLATFORM_NOT_FOUND"]);
    assert.equal((outcomes[2] as Stored).state, "created");
  });

  test("create a trace again when it is deleted while a batch waits for it", async () => {
    const [{ traceId }] = (await store([otlpWrite(sender, { externalId: "vanishing", spans: ["a"] })])) as [
      Stored,
    ];
    const deleting = await begun(await placeOf(other, sender.agentId));
    await deleting.query("select from traces where id = $1 for update", [traceId]);
    const stored = writer.write(otlpWrite(sender, { externalId: "vanishing", spans: ["b"] }));
    await waiting(await placeOf(db, sender.agentId), "for update of t");
    await deleting.query("select delete_traces(array[$1::uuid])", [traceId]);
    await deleting.commit();
    const { state, traceId: second } = await stored;
    assert.equal(state, "created");
    assert.deepEqual(await spanIdsOf(second), [otlpId("b")]);
  });
});

suite("two processes", () => {
  test("answer one of eight posts of the same identity with “created”, and keep exactly one of them whole", async () => {
    const race = await makeSender(db);
    for (let round = 0; round < 25; round++) {
      const texts = Array.from({ length: 8 }, (_, index) => `version ${index} `.repeat(1 + index * 50));
      const writes = texts.map(text =>
        canonicalWrite(race, { externalId: `race ${round}`, text, spans: ["a", "b", "c"] }),
      );
      const stored = await Promise.all(
        writes.map((write, index) => (index % 2 ? writer : otherWriter).write(write)),
      );
      assert.equal(stored.filter(({ state }) => state === "created").length, 1);
      assert.deepEqual(stored.map(({ revision }) => revision).sort(), [1, 2, 3, 4, 5, 6, 7, 8]);
      const last = stored.findIndex(({ revision }) => revision === 8);
      const { trace, revision } = await loadTrace(db, stored[0]!.traceId);
      assert.equal(revision, 8);
      assert.deepEqual(
        trace.spans.map(span => span.attributes["gen_ai.response.text"]),
        [texts[last], texts[last], texts[last]],
      );
    }
    assert.equal((await tracesOf(race)).length, 25);
  });

  test("lose no span of a trace whose batches reach both at once", async () => {
    for (let round = 0; round < 10; round++) {
      const externalId = `union ${round}`;
      const batches = Array.from({ length: 20 }, (_, at) => [`${at + 1}`, `${at + 2}`, `${at + 3}`]);
      const stored = await Promise.all(
        batches.map((spans, index) =>
          (index % 2 ? writer : otherWriter).write(otlpWrite(sender, { externalId, spans })),
        ),
      );
      const traceId = stored[0]!.traceId;
      assert.ok(stored.every(one => one.traceId === traceId));
      const expected = Array.from({ length: 22 }, (_, at) => otlpId(`${at + 1}`));
      assert.deepEqual(new Set(await spanIdsOf(traceId)), new Set(expected));
      assert.equal((await runsOf(traceId)).length, 1);
    }
  });

  test("do not deadlock, in whatever order the same traces arrive", async () => {
    const pools = [openFresh(url), openFresh(url)] as const;
    const names = ["1 before", "2 held", "3 after"];
    const place = await placeOf(db, sender.agentId);
    const blocking = await begun(place);
    await blocking.query(
      "insert into trace_identities (agent_id, trace_id, external_id) values ($2, $1, $3)",
      [newId(), sender.agentId, names[1]],
    );
    const [forth, back] = pools.map((pool, at) => {
      const order = at === 0 ? names : names.toReversed();
      const writes = order.map(externalId => otlpWrite(sender, { externalId }));
      return store(writes, new TraceWriter(pool, limits));
    });
    await waiting(place, ", item as materialized", 2);
    await blocking.rollback();
    const stored = [...(await forth!), ...(await back!)];
    assert.equal(stored.filter(({ state }) => state === "created").length, 3);
    assert.equal(stored.filter(({ state }) => state === "merged").length, 3);
    // A connection reports all its statistics when it ends.
    await Promise.all(pools.map(pool => pool.close()));
    const { rows } = await place.pool.query(
      "select deadlocks::int from pg_stat_database where datname = current_database()",
    );
    assert.deepEqual(rows, [{ deadlocks: 0 }]);
  });
});

suite("writes of agents in several places", { skip: oneServer }, () => {
  test("are stored in each, and answered in their order", async () => {
    const elsewhere = await openTwice();
    try {
      const senders = [sender, await makeSender(elsewhere.db)];
      const homes = new Map([
        [senders[0]!.agentId, db],
        [senders[1]!.agentId, elsewhere.db],
      ]);
      const places = { of: async () => homes, ...onlyHere };
      const spread = new TraceWriter({ ...db, places }, limits);
      const writes = [0, 1, 0, 1, 1].map(at => otlpWrite(senders[at]!));
      const stored = await store(writes, spread);
      assert.deepEqual(
        stored.map(({ traceId }) => traceId),
        writes.map(({ traceId }) => traceId),
      );
      const { rows } = await elsewhere.db.pool.query("select id from traces order by id");
      assert.deepEqual(
        rows.map(({ id }) => id),
        [1, 3, 4].map(at => writes[at]!.traceId),
      );
    } finally {
      await elsewhere.close();
    }
  });

  test("are stored once in one place, while another cannot be reached for a moment", async () => {
    const away = await makeSender(db);
    const proxy = await startCuttingProxy(url);
    const proxied = openDatabase(proxy.url);
    try {
      await proxied.pool.query("select");
      proxy.loseAnswerTo("insert_traces");
      const homes = new Map([
        [sender.agentId, other],
        [away.agentId, proxied],
      ]);
      const places = { of: async () => homes, ...onlyHere };
      const spread = new TraceWriter({ ...db, places }, limits);
      const writes = [otlpWrite(sender), otlpWrite(away)];
      assert.deepEqual(
        (await store(writes, spread)).map(({ state, revision }) => `${state} ${revision}`),
        ["created 1", "created 1"],
      );
      assert.equal(proxy.lost, 1);
      for (const { traceId, runId } of writes) {
        assert.deepEqual(await runsOf(traceId), [{ id: runId, state: "pending" }]);
      }
    } finally {
      await proxied.close();
      await proxy.close();
    }
  });
});

suite("when the database's answer is lost", { skip: oneServer }, () => {
  async function throughProxy(statement: string, work: (proxied: TraceWriter) => Promise<void>) {
    const proxy = await startCuttingProxy(url);
    const proxied = openDatabase(proxy.url);
    try {
      await proxied.pool.query("select");
      proxy.loseAnswerTo(statement);
      await work(new TraceWriter(proxied, limits));
      assert.equal(proxy.lost, 1);
    } finally {
      await proxied.close();
      await proxy.close();
    }
  }

  test("a new trace is reported as created, with its evaluation, and stored once", async () => {
    const lone = await makeSender(db);
    for (const write of [canonicalWrite(lone), otlpWrite(lone)]) {
      await throughProxy("insert_traces", async proxied => {
        assert.deepEqual(await proxied.write(write), {
          traceId: write.traceId,
          state: "created",
          revision: 1,
          evaluation: "scheduled",
        });
      });
      assert.deepEqual(await runsOf(write.traceId), [{ id: write.runId, state: "pending" }]);
    }
    assert.equal((await tracesOf(lone)).length, 2);
  });

  test("a replacement is still reported as a replacement", async () => {
    const externalId = "replaced across a break";
    await store([canonicalWrite(sender, { externalId, text: "before" })]);
    await throughProxy("commit", async proxied => {
      const { state, traceId } = await proxied.write(canonicalWrite(sender, { externalId, text: "after" }));
      assert.equal(state, "replaced");
      assert.equal(await textOf(traceId), "after");
      assert.deepEqual(await spanIdsOf(traceId), ["a"]);
    });
  });

  test("a batch is merged once, with one run", async () => {
    const externalId = "merged across a break";
    const [{ traceId }] = (await store([otlpWrite(sender, { externalId, spans: ["a"] })])) as [Stored];
    await endRun(db, traceId);
    await throughProxy("commit", async proxied => {
      const { state } = await proxied.write(otlpWrite(sender, { externalId, spans: ["b"] }));
      assert.equal(state, "merged");
    });
    assert.deepEqual(await spanIdsOf(traceId), [otlpId("a"), otlpId("b")]);
    assert.deepEqual(
      (await runsOf(traceId)).map(({ state }) => state),
      ["completed", "pending"],
    );
  });

  test("and the database stays down or hangs, the write is UNAVAILABLE", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    for (const address of ["127.0.0.1:1", `127.0.0.1:${port}`]) {
      const away = openDatabase(`postgresql://nobody:nothing@${address}/nowhere`);
      const impatient = new TraceWriter(away, { ...limits, retryMs: 0 });
      assert.equal(await outcomeOf(impatient.write(canonicalWrite(sender))), "UNAVAILABLE");
      await away.close();
    }
    silent.close();
  });
});

suite("a clock that differs from the database's", () => {
  test("by more than ten minutes stores nothing, neither a new trace nor a change to one; by less, all of it", async () => {
    const minute = 60_000;
    const writer = new TraceWriter(db, limits);
    const externalId = newId();
    const sent = (minutes: number, spans: string[]) => ({
      ...otlpWrite(sender, { externalId, spans }),
      traceId: idAt(Date.now() + minutes * minute),
    });
    for (const [minutes, says] of [
      [11, "11 minutes ahead of"],
      [-11, "11 minutes behind"],
    ] as const) {
      await assert.rejects(writer.write(sent(minutes, ["a"])), (error: Refusal) => {
        assert.equal(error.code, "UNAVAILABLE");
        assert.match(error.message, new RegExp(says));
        return true;
      });
    }
    assert.equal(
      (await db.pool.query("select from trace_identities where external_id = $1", [externalId])).rowCount,
      0,
    );
    assert.equal((await writer.write(sent(-9, ["a"]))).state, "created");
    await assert.rejects(writer.write(sent(11, ["b"])), /ahead/);
    assert.equal((await writer.write(sent(9, ["b"]))).revision, 2);
  });
});

suite("a key that ends between its check and the commit", () => {
  test("stores nothing, neither a new trace nor a change to an existing one", async () => {
    const leaving = await makeSender(db);
    const [kept] = (await store([canonicalWrite(leaving, { externalId: "kept", text: "before" })])) as [
      Stored,
    ];
    await deleteKey(db, leaving.keyId);
    const late = [
      canonicalWrite(leaving, { externalId: "kept", text: "after" }),
      canonicalWrite(leaving),
      otlpWrite(leaving),
    ];
    const outcomes = await Promise.all(late.map(write => outcomeOf(writer.write(write))));
    assert.deepEqual(outcomes, ["UNAUTHORIZED", "UNAUTHORIZED", "UNAUTHORIZED"]);
    assert.equal((await tracesOf(leaving)).length, 1);
    assert.equal(await textOf(kept.traceId), "before");
  });

  test("does not affect writes without a key, or with valid keys in the same statement", async () => {
    // One after the other: on a cluster, such transactions deadlock.
    const [sample, live, expired, gone] = [
      await makeSender(db),
      await makeSender(db),
      await makeSender(db),
      await makeSender(db),
    ];
    await db.pool.query("update keys set expires_at = now() where id = $1", [expired!.keyId]);
    await deleteKey(db, gone!.keyId);
    const writes = [sample!, live!, expired!, gone!].map(one => otlpWrite(one));
    writes[0]!.keyId = null;
    const outcomeOfWrite = new Map<TraceWrite, WriteOutcome>();
    for (const [place, part] of await partsOf(db, writes)) {
      const stored = await insertTraces(place, part, 0);
      part.forEach((write, at) => void outcomeOfWrite.set(write, stored[at]));
    }
    const outcomes = writes.map(write => outcomeOfWrite.get(write));
    const told = outcomes.map(one =>
      one instanceof Refusal ? one.code : one && "state" in one && one.state,
    );
    assert.deepEqual(told, ["created", "created", "UNAUTHORIZED", "UNAUTHORIZED"]);
    const stored = await Promise.all([sample!, live!, expired!, gone!].map(one => tracesOf(one)));
    assert.deepEqual(
      stored.map(rows => rows.length),
      [1, 1, 0, 0],
    );
  });

  test("stores nothing once it has expired", async () => {
    const expired = await makeSender(db);
    await db.pool.query("update keys set expires_at = now() where id = $1", [expired.keyId]);
    assert.equal(await outcomeOf(writer.write(otlpWrite(expired))), "UNAUTHORIZED");
    assert.deepEqual(await tracesOf(expired), []);
  });

  test("is refused while its revocation is in progress, for new and existing traces", async () => {
    for (const externalId of ["known", "new"]) {
      const leaving = await makeSender(db);
      await store([otlpWrite(leaving, { externalId: "known" })]);
      const revoking = await begun(other);
      await revoking.query("delete from keys where id = $1", [leaving.keyId]);
      const outcome = outcomeOf(writer.write(otlpWrite(leaving, { externalId, spans: ["f"] })));
      await waiting(await placeOf(db, leaving.agentId), "for key share");
      await revoking.commit();
      assert.equal(await outcome, "UNAUTHORIZED");
      const [only, ...more] = await tracesOf(leaving);
      assert.deepEqual(more, []);
      assert.deepEqual(await spanIdsOf(only!.id), [otlpId("a")]);
    }
  });

  test("makes its revocation wait for a commit in progress", async () => {
    const leaving = await makeSender(db);
    const [{ traceId }] = (await store([otlpWrite(leaving, { externalId: "slow" })])) as [Stored];
    const place = await placeOf(other, leaving.agentId);
    const holding = await begun(place);
    await holding.query("select from traces where id = $1 for update", [traceId]);
    const order: string[] = [];
    const stored = writer
      .write(otlpWrite(leaving, { externalId: "slow", spans: ["b"] }))
      .then(() => order.push("stored"));
    await waiting(place, "for update of t");
    const revoked = deleteKey(db, leaving.keyId).then(() => order.push("revoked"));
    // On a cluster, Citus sends a statement of its own to the node.
    await waiting(place, db.places ? "DELETE FROM public.keys" : "delete from keys");
    await holding.commit();
    await Promise.all([stored, revoked]);
    assert.deepEqual(order, ["stored", "revoked"]);
    assert.deepEqual(await spanIdsOf(traceId), [otlpId("a"), otlpId("b")]);
  });
});

test("noise is kept, not listed and not evaluated, until a batch has something else", async () => {
  const own = await makeSender(db);
  const externalId = "noise";
  const noise = (write: TraceWrite): TraceWrite => ({
    ...write,
    columns: { ...write.columns, noise: "health_check" },
  });
  const listed = async (filters: TraceFilters) => {
    const { rows } = await listTraces(db, own.agentId, filters, { before: newest, rowsMax: 10 });
    return rows.length;
  };
  const first = await writer.write(noise(otlpWrite(own, { externalId, spans: ["a"] })));
  const second = await writer.write(noise(otlpWrite(own, { externalId, spans: ["b"] })));
  assert.deepEqual([first.evaluation, second.evaluation], ["none", "none"]);
  assert.deepEqual(await runsOf(first.traceId), []);
  assert.deepEqual(
    [await listed({}), await listed({ noise: true }), await listed({ externalId })],
    [0, 1, 1],
  );
  const third = await writer.write(otlpWrite(own, { externalId, spans: ["a"], text: "Hello." }));
  assert.equal(third.evaluation, "scheduled");
  const fourth = await writer.write(noise(otlpWrite(own, { externalId, spans: ["d"] })));
  assert.equal(fourth.evaluation, "scheduled");
  assert.deepEqual([(await runsOf(first.traceId)).length, await listed({})], [1, 1]);
});
