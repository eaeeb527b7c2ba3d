// What another batch does to a stored trace and its scheduled run, by the database's clock.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { Refusal } from "../../../src/model/refusal.ts";
import { placeOfRow } from "../../../src/store/cluster/routing.ts";
import { claimRuns, giveBackRuns } from "../../../src/store/runs/claims.ts";
import { TraceWriter, type WriterOptions } from "../../../src/store/traces/writer.ts";
import { loadTrace } from "../../support/loaded-trace.ts";
import { canonicalWrite, limits, makeSender, openTwice, otlpId, otlpWrite } from "./make-write.ts";

const { db, other, close } = await openTwice();
after(close);
const sender = await makeSender(db);
let traces = 0;
const newIdentity = () => `trace ${++traces}`;

const writerWith = (more: Partial<WriterOptions>) => new TraceWriter(db, { ...limits, ...more });
const writer = writerWith({});
const otherWriter = new TraceWriter(other, limits);

async function refusalOf(stored: Promise<unknown>): Promise<string | undefined> {
  const [outcome] = await Promise.allSettled([stored]);
  return outcome.status === "rejected" && outcome.reason instanceof Refusal ? outcome.reason.code : undefined;
}

const loaded = (traceId: string) => loadTrace(db, traceId);

async function spanIdsOf(traceId: string): Promise<string[]> {
  return (await loaded(traceId)).trace.spans.map(span => span.span_id);
}

async function statesOf(traceId: string): Promise<string[]> {
  const { rows } = await db.pool.query(
    `select id, state from runs where trace_id = $1 union all select id, state from queue where trace_id = $1
      order by id`,
    [traceId],
  );
  return rows.map(row => row.state);
}

/** Of the pending run: ms from its first batch, and from the latest write of its trace, to its due time. */
async function dueAfter(traceId: string): Promise<{ first: number; latest: number }> {
  const { rows } = await db.pool.query(
    `select extract(epoch from due_at - first_batch_at)::float8 * 1000 as first,
        extract(epoch from due_at - updated_at)::float8 * 1000 as latest
      from queue join traces on traces.agent_id = queue.agent_id and traces.id = trace_id where trace_id = $1 and state = 'pending'`,
    [traceId],
  );
  assert.equal(rows.length, 1);
  return { first: Math.round(rows[0].first), latest: Math.round(rows[0].latest) };
}

/** Moves the pending run's first batch and all later ones this much into the past. */
async function age(traceId: string, seconds: number): Promise<void> {
  await (await placeOfRow(db, "traces", traceId)).pool.query(
    `update queue set first_batch_at = first_batch_at - make_interval(secs => $2),
        due_at = due_at - make_interval(secs => $2)
      where trace_id = $1 and state = 'pending'`,
    [traceId, seconds],
  );
}

/** Claims every due run, as a worker that starts evaluating does. */
async function beginAll(): Promise<{ lease: string; runIds: string[] }> {
  await db.pool.query("update queue set due_at = now() where state = 'pending'");
  const lease = crypto.randomUUID();
  const runIds: string[] = [];
  for (;;) {
    const { runs } = await claimRuns(db, { lease, leaseMs: 60_000, runsMax: 1_000 });
    if (runs.length === 0) return { lease, runIds };
    runIds.push(...runs.map(run => run.id));
  }
}

suite("the due time of an OTLP trace", () => {
  test("is the debounce after its first batch", async () => {
    const { traceId } = await writer.write(otlpWrite(sender));
    assert.deepEqual(await dueAfter(traceId), { first: 5_000, latest: 5_000 });
  });

  test("moves to the debounce after each further batch, even a repeated one", async () => {
    const externalId = newIdentity();
    const { traceId } = await writer.write(otlpWrite(sender, { externalId, spans: ["a"] }));
    for (const spans of [["b"], ["b"]]) {
      await age(traceId, 10);
      const { evaluation } = await writer.write(otlpWrite(sender, { externalId, spans }));
      assert.equal(evaluation, "scheduled");
      assert.equal((await dueAfter(traceId)).latest, 5_000);
    }
  });

  test("is never later than the cap after its first batch", async () => {
    const externalId = newIdentity();
    const { traceId } = await writer.write(otlpWrite(sender, { externalId }));
    await age(traceId, 58);
    await writer.write(otlpWrite(sender, { externalId, spans: ["b"] }));
    assert.equal((await dueAfter(traceId)).first, 60_000);
  });

  test("follows the settings", async () => {
    const externalId = newIdentity();
    const quick = writerWith({ debounceMs: 700, debounceCapMs: 900 });
    const { traceId } = await quick.write(otlpWrite(sender, { externalId }));
    assert.equal((await dueAfter(traceId)).first, 700);
    await age(traceId, 0.5);
    await quick.write(otlpWrite(sender, { externalId, spans: ["b"] }));
    assert.equal((await dueAfter(traceId)).first, 900);
  });

  test("starts over with the first batch after the evaluation began", async () => {
    const externalId = newIdentity();
    const { traceId } = await writer.write(otlpWrite(sender, { externalId }));
    await age(traceId, 300);
    await beginAll();
    await writer.write(otlpWrite(sender, { externalId, spans: ["b"] }));
    assert.deepEqual(await dueAfter(traceId), { first: 5_000, latest: 5_000 });
  });
});

suite("the due time of a canonical trace", () => {
  test("is its arrival", async () => {
    const { traceId } = await writer.write(canonicalWrite(sender));
    assert.deepEqual(await dueAfter(traceId), { first: 0, latest: 0 });
  });
});

suite("scheduling", () => {
  test("adds no second run for a resent batch, nor for new content of known span ids", async () => {
    const externalId = newIdentity();
    const batch = { externalId, spans: ["a", "b"] };
    const { traceId } = await writer.write(otlpWrite(sender, batch));
    await beginAll();
    for (const more of [batch, { ...batch, text: "newer" }, { externalId, spans: ["b"] }]) {
      const { state, evaluation } = await writer.write(otlpWrite(sender, more));
      assert.deepEqual([state, evaluation], ["merged", "none"]);
    }
    assert.deepEqual(await statesOf(traceId), ["running"]);
  });

  test("adds exactly one more run for new spans after the evaluation began, however many batches bring them", async () => {
    const externalId = newIdentity();
    const { traceId } = await writer.write(otlpWrite(sender, { externalId }));
    await beginAll();
    await Promise.all(
      ["b", "c", "d", "e", "f"].map((span, at) =>
        (at % 2 ? writer : otherWriter).write(otlpWrite(sender, { externalId, spans: ["a", span] })),
      ),
    );
    assert.deepEqual(await statesOf(traceId), ["running", "pending"]);
  });

  test("adds no third run when the first one is given back", async () => {
    const externalId = newIdentity();
    const { traceId } = await writer.write(otlpWrite(sender, { externalId }));
    const begun = await beginAll();
    await writer.write(otlpWrite(sender, { externalId, spans: ["b"] }));
    await giveBackRuns(db, begun);
    await writer.write(otlpWrite(sender, { externalId, spans: ["c"] }));
    assert.deepEqual(await statesOf(traceId), ["running", "pending"]);
  });
});

suite("one identity on both paths", () => {
  test("is merged by OTLP, and a new span schedules its evaluation", async () => {
    const externalId = newIdentity();
    const { traceId } = await writer.write(canonicalWrite(sender, { externalId, spans: ["root"] }));
    await beginAll();
    const again = await writer.write(otlpWrite(sender, { externalId, spans: ["a"] }));
    assert.deepEqual([again.traceId, again.state, again.evaluation], [traceId, "merged", "scheduled"]);
    const { trace } = await loaded(traceId);
    assert.equal(trace.path, "otlp");
    assert.deepEqual(
      trace.spans.map(span => span.span_id),
      [otlpId("a"), "root"],
    );
  });

  test("is replaced and merged in the order of revisions when both happen at once", async () => {
    const externalId = newIdentity();
    const { traceId } = await writer.write(otlpWrite(sender, { externalId, spans: ["a"] }));
    const [merged, replaced, later] = await Promise.all([
      writer.write(otlpWrite(sender, { externalId, spans: ["b"] })),
      writer.write(canonicalWrite(sender, { externalId, spans: ["whole"] })),
      writer.write(otlpWrite(sender, { externalId, spans: ["c"] })),
    ]);
    assert.deepEqual(
      [merged, replaced, later].map(({ revision }) => revision),
      [2, 3, 4],
    );
    assert.deepEqual(await spanIdsOf(traceId), [otlpId("c"), "whole"]);
  });
});

suite("the limits of a merged trace", () => {
  const bounded = writerWith({ traceSpansMax: 10 });
  const letters = (text: string) => [...text];
  const send = (externalId: string, spans: string, by = bounded) =>
    by.write(otlpWrite(sender, { externalId, spans: letters(spans) }));

  async function batchesOf(traceId: string): Promise<number> {
    const { rows } = await db.pool.query(
      "select count(*)::int as batches from trace_batches where trace_id = $1",
      [traceId],
    );
    return rows[0].batches;
  }

  test("count a span once, however often it is sent", async () => {
    const externalId = newIdentity();
    const { traceId } = await send(externalId, "12345");
    for (let round = 0; round < 20; round++) await send(externalId, "12345");
    await send(externalId, "abcde");
    assert.equal((await spanIdsOf(traceId)).length, 10);
    assert.ok((await batchesOf(traceId)) < 22);
  });

  test("lose no stored span when a batch is refused", async () => {
    const externalId = newIdentity();
    const { traceId } = await send(externalId, "12");
    await send(externalId, "3456789a");
    assert.equal(await refusalOf(send(externalId, "12b")), "PAYLOAD_TOO_LARGE");
    assert.deepEqual(await spanIdsOf(traceId), letters("123456789a").map(otlpId));
  });

  test("are the same for batches stored together and one by one", async () => {
    const externalId = newIdentity();
    const { traceId } = await send(externalId, "1234");
    const outcomes = await Promise.all(
      ["5678", "1234", "9ab", "9a"].map(async spans => {
        const refused = await refusalOf(send(externalId, spans));
        return refused ?? "stored";
      }),
    );
    assert.deepEqual(outcomes, ["stored", "stored", "PAYLOAD_TOO_LARGE", "stored"]);
    assert.deepEqual(await spanIdsOf(traceId), letters("123456789a").map(otlpId));
  });
});
