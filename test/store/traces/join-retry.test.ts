// Joining log records again after the database was unavailable just after their commit.
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import type { Database, Session } from "../../../src/store/db.ts";
import type { JoinedTrace } from "../../../src/store/traces/join-records.ts";
import { JoinRetry } from "../../../src/store/traces/join-retry.ts";
import { storeRecords } from "../../../src/store/traces/records.ts";
import type { SentRecords } from "../../../src/store/traces/waiting-records.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { newTraceId } from "../../support/bodies.ts";
import { limits, makeSender, openTwice, otlpWrite, questions, type Sender } from "./make-write.ts";

const opened = await openTwice();
const { db } = opened;
after(() => opened.close());

/** OTLP ids of traces whose waiting records cannot be read, and for how many more attempts. */
const faults = new Map<string, number>();
let thrown: Error;
let logged: PromiseWithResolvers<string>;
beforeEach(() => {
  faults.clear();
  logged = Promise.withResolvers();
  thrown = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
});

/** The database of an agent, in which reading waiting records fails as `faults` says. */
async function unsteady(sender: Sender): Promise<Database> {
  const place = await placeOf(db, sender.agentId);
  const query = async (given: { name?: string; values?: unknown[] }, ...rest: unknown[]) => {
    if (given.name === "list_waiting") {
      // The ids are in a binary array.
      const text = (given.values as Buffer[]).map(value => value.toString("latin1")).join();
      for (const [id, left] of faults) {
        if (left === 0 || !text.includes(id)) continue;
        faults.set(id, left - 1);
        throw thrown;
      }
    }
    return (place.pool.query as (...all: unknown[]) => unknown).call(place.pool, given, ...rest);
  };
  return { ...place, pool: { query: query as Session["query"] } };
}

/** `next`: the next trace that is joined. */
function startRetry(on: Database, joinLimits = limits) {
  const { promise: next, resolve } = Promise.withResolvers<JoinedTrace>();
  const { promise: refused, resolve: refuse } = Promise.withResolvers<SentRecords[]>();
  const retry = new JoinRetry({
    ...{ db: on, limits: joinLimits, firstMs: 1, onJoined: resolve },
    log: { error: (_: unknown, text: string) => logged.resolve(text) } as never,
    onRefused: records => records.length > 0 && refuse(records),
  });
  after(() => retry.close());
  return { retry, next, refused };
}

const spansOf = (sender: Sender, externalId: string) => ({
  ...otlpWrite(sender, { externalId }),
  readBy: { conventions: ["*"], conventionRules: [] },
});

async function batchesOf(traceId: string): Promise<number> {
  const { rows } = await db.pool.query("select batch_count from traces where id = $1", [traceId]);
  return rows[0].batch_count;
}

test("records that could not be joined after their commit are joined soon after", async () => {
  const sender = await makeSender(db);
  const [on, id] = [await unsteady(sender), newTraceId()];
  const { retry, next } = startRetry(on);
  const { traceId } = await new TraceWriter(db, limits).write(spansOf(sender, id));
  faults.set(id, 3);
  const { joined } = await storeRecords(on, questions(sender, id, "a", "Hello"), limits, traces =>
    retry.add(traces),
  );
  assert.deepEqual([joined, await batchesOf(traceId)], [[], 1]);
  assert.equal((await next).traceId, traceId);
  assert.equal(await batchesOf(traceId), 2);
});

test("so are records that waited for a span that was committed just before", async () => {
  const sender = await makeSender(db);
  const [on, id] = [await unsteady(sender), newTraceId()];
  const { retry, next } = startRetry(on);
  await storeRecords(db, questions(sender, id, "a", "Hello"), limits);
  faults.set(id, 1);
  const writer = new TraceWriter(on, { ...limits, retryJoin: traces => retry.add(traces) });
  const { traceId } = await writer.write(spansOf(sender, id));
  assert.equal((await next).traceId, traceId);
  assert.equal(await batchesOf(traceId), 2);
});

test("an agent whose records still cannot be joined does not hold up others", async () => {
  const [lost, sender] = [await makeSender(db), await makeSender(db)];
  const [on, id] = [await unsteady(sender), newTraceId()];
  const { retry, next } = startRetry(on);
  const { traceId } = await new TraceWriter(db, limits).write(spansOf(sender, id));
  const lostId = newTraceId();
  faults.set(lostId, Number.POSITIVE_INFINITY);
  retry.add([{ agentId: lost.agentId, otlpTraceId: lostId }]);
  faults.set(id, 1);
  await storeRecords(on, questions(sender, id, "a", "Hello"), limits, traces => retry.add(traces));
  assert.equal((await next).traceId, traceId);
});

test("records that no longer fit by then are reported, and a fault that does not pass is logged, not retried", async () => {
  const sender = await makeSender(db);
  const [on, id] = [await unsteady(sender), newTraceId()];
  const { retry, refused } = startRetry(on, { ...limits, traceSpansMax: 1 });
  await new TraceWriter(db, limits).write(spansOf(sender, id));
  faults.set(id, 1);
  await storeRecords(on, questions(sender, id, "a", "1", "2"), limits, traces => retry.add(traces));
  assert.deepEqual(
    (await refused).map(({ agentId, records }) => [agentId, records]),
    [[sender.agentId, 2]],
  );
  thrown = new Error("a bug");
  faults.set(id, 1);
  const again = startRetry(on);
  again.retry.add([{ agentId: sender.agentId, otlpTraceId: id }]);
  assert.equal(await logged.promise, "log records cannot be joined to their traces");
});
