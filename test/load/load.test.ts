// Stored traces are loaded within their thread's heap: a trace with too much content is refused before it is parsed.

import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import pino from "pino";
import { openEditor } from "../../src/editor.ts";
import { prepareBody } from "../../src/ingest/prepare.ts";
import { findMatches } from "../../src/load/erasure.ts";
import { HeapSemaphore } from "../../src/load/heap-semaphore.ts";
import { refreshStale } from "../../src/load/stale.ts";
import { holdTraces, openEach, withTrace } from "../../src/load.ts";
import { readByNothing } from "../../src/model/agent/read-by.ts";
import type { Result } from "../../src/model/run/run.ts";
import { workChannel } from "../../src/model/work.ts";
import { systemClock } from "../../src/remote/clock.ts";
import { ThreadedTraceReader } from "../../src/service/threaded-trace-reader.ts";
import { newId } from "../../src/store/new-id.ts";
import { findTrace } from "../../src/store/traces/read.ts";
import { listStale } from "../../src/store/traces/stale.ts";
import { TraceWriter } from "../../src/store/traces/writer.ts";
import { type TraceLimits, traceLimits } from "../../src/threads/heap.ts";
import { decodeLimits } from "../../src/wire/limits.ts";
import { canonicalWrite, limits, makeSender, openTwice, otlpWrite } from "../store/traces/make-write.ts";
import { hostileBodies } from "../support/hostile-bodies.ts";
import { addressesOf } from "../support/postgres.ts";

const { db, url, close } = await openTwice();
after(close);
const writer = new TraceWriter(db, limits);
const sender = await makeSender(db);

const prices = { own: [], day: "2026-11-20" };
const small = { bytes: 10_000, elements: 1_000 };
const tooLarge = { code: "PAYLOAD_TOO_LARGE", message: /too many values/ };

/** A trace whose attributes contain this many values. */
async function store(values: number, text = "short"): Promise<string> {
  const attributes = { list: Array.from({ length: values }, () => 0) };
  return (await writer.write(canonicalWrite(sender, { attributes, text }))).traceId;
}

/** A trace of two batches whose columns were derived from the first one. */
async function storeStale(spanCount: number): Promise<string> {
  const externalId = crypto.randomUUID();
  await writer.write(otlpWrite(sender, { externalId, text: "old" }));
  const spans = Array.from({ length: spanCount }, (_, at) => `a${at}`);
  const { traceId } = await writer.write(otlpWrite(sender, { externalId, spans, text: "new" }));
  return traceId;
}

suite("a trace with too much content", () => {
  test("is refused, and one within the limits is not", async () => {
    const [dense, plain] = [await store(2_000), await store(500)];
    const heap = new HeapSemaphore(small);
    await assert.rejects(
      withTrace(db, dense, heap, () => assert.fail("it was opened")),
      tooLarge,
    );
    assert.equal(await withTrace(db, plain, heap, ({ traceId }) => traceId), plain);
  });

  test("does not keep others from being loaded", async () => {
    const [dense, plain] = [await store(2_000), await store(10)];
    const missing = crypto.randomUUID();
    const outcomes = new Map<string, string>();
    for await (const outcome of openEach(db, [dense, missing, plain], new HeapSemaphore(small))) {
      const [what] = ["loaded", "refusal", "missing", "error"].filter(name => name in outcome);
      outcomes.set(outcome.traceId, what!);
      if ("loaded" in outcome) outcome.release();
    }
    assert.deepEqual(
      outcomes,
      new Map([
        [missing, "missing"],
        [plain, "loaded"],
        [dense, "refusal"],
      ]),
    );
  });

  test("keeps its columns, and is not tried again until it changes", async () => {
    const traceId = await storeStale(200);
    const heap = new HeapSemaphore(small);
    assert.equal(await refreshStale(db, { agentId: sender.agentId, heap }), 1);
    assert.equal((await findTrace(db, traceId))!.responseText, "old");
    assert.equal(await refreshStale(db, { agentId: sender.agentId, heap }), 0);
  });

  test("is counted as unread where several traces are read", async () => {
    const own = await makeSender(db);
    const write = canonicalWrite(own, { attributes: { list: Array.from({ length: 2_000 }, () => 0) } });
    await writer.write({ ...write, columns: { ...write.columns, userInput: "x".repeat(500) } });
    const deps = { db, judgeOf: () => assert.fail("the judge is asked"), sandbox: noSandbox };
    const editor = openEditor({ ...deps, heap: new HeapSemaphore(small), clock: systemClock });
    const { signal } = new AbortController();
    const ask = { agentId: own.agentId, scenario: "s", count: 5, estimate: true };
    const trial = await editor.tryScenario(ask, signal);
    assert.deepEqual([trial.traces, trial.unread], [1, 1]);
    assert.equal((await editor.vocabulary({ agentId: own.agentId }, signal)).traces, 0);
    await assert.rejects(async () => editor.draftTest({ traceId: write.traceId }, signal), tooLarge);
  });

  test("is found by an erasure that cannot read it, if it may have the ID, and by no other", async () => {
    const own = await makeSender(db);
    const list = Array.from({ length: 2_000 }, () => 0);
    const { traceId } = await writer.write(canonicalWrite(own, { attributes: { list, "user.id": "jane" } }));
    await writer.write(canonicalWrite(own, { attributes: { list, "user.id": "bob" } }));
    const found = async (kind: "userId" | "conversationId", values: string[]) => {
      const search = {
        id: newId(),
        projectId: own.projectId,
        criterion: { kind, values },
        since: null,
        cursor: null,
      };
      const { matches } = await findMatches(db, new HeapSemaphore(small), search);
      return matches.map(match => match.traceId);
    };
    assert.deepEqual(await found("userId", ["jane"]), [traceId]);
    assert.deepEqual(await found("conversationId", ["jane"]), [traceId]);
    assert.deepEqual(await found("userId", ["carol"]), []);
  });
});

const noSandbox = { answer: () => assert.fail("the sandbox is asked") };

suite("traces that are loaded together", () => {
  test("are returned in the order requested, and refused if they are too large together", async () => {
    const traceIds = [await store(400, "a"), await store(10, "b"), await store(400, "c")];
    const heap = new HeapSemaphore(small);
    const held = (await holdTraces(db, traceIds, heap))!;
    assert.deepEqual(
      held.traces.map(({ traceId }) => traceId),
      traceIds,
    );
    held.release();
    await assert.rejects(holdTraces(db, [...traceIds, await store(400)], heap), tooLarge);
    (await holdTraces(db, traceIds, heap))!.release();
  });

  test("wait for one another if there is not enough room", async () => {
    const traceIds = [await store(700), await store(700)];
    const heap = new HeapSemaphore(small);
    const opened: string[] = [];
    const first = (await holdTraces(db, [traceIds[0]!], heap))!;
    const waits = new Promise<void>(resolve => {
      heap.makeRoom = () => {
        resolve();
        return false;
      };
    });
    const second = withTrace(db, traceIds[1]!, heap, ({ traceId }) => opened.push(traceId));
    await waits;
    assert.deepEqual(opened, []);
    first.release();
    await second;
    assert.deepEqual(opened, [traceIds[1]]);
  });
});

suite("stale columns", () => {
  test("of a trace that is too large for the reader of a list are left to a worker", async () => {
    const traceId = await storeStale(10);
    const asked = { agentId: sender.agentId };
    assert.equal(await refreshStale(db, { ...asked, bytesMax: 100 }), 0);
    assert.deepEqual(
      (await listStale(db, { ...asked, limit: 10 })).map(({ id }) => id),
      [traceId],
    );
    assert.equal(await refreshStale(db, asked), 1);
    assert.deepEqual(await listStale(db, { ...asked, limit: 10 }), []);
  });
});

suite("the thread that reads large traces", () => {
  const open = (limits: TraceLimits) => {
    const log = pino({ level: "silent" });
    return new ThreadedTraceReader({ db, addresses: addressesOf(url), log, limits, inlineBytesMax: 0 });
  };

  // On Node 24, a heap that fills up inside a builtin ends this process, and every test in this file with it.
  test("reads a trace with as many values as allowed, however much memory they take", async () => {
    const { mediaType, bytes } = hostileBodies["objects with a hundred keys of their own"]!();
    const body = prepareBody(bytes, mediaType, decodeLimits);
    assert.equal(body.path, "canonical");
    const write = canonicalWrite(sender);
    if (body.path === "canonical") Object.assign(write, body.batch);
    const { traceId } = await writer.write(write);
    const host = open(traceLimits(31_457_280));
    assert.equal((await host.outline({ prices, traceId }))!.head.spanCount, 1);
    await host.close();
  });

  test("spares its caller's thread all that is large or has many values, whatever is asked", async () => {
    const [dense, long, plain] = [await store(8_000), await store(1, "x".repeat(150_000)), await store(10)];
    const stale = await storeStale(100);
    const host = new ThreadedTraceReader({ db, addresses: addressesOf(url), log: pino({ level: "silent" }) });
    const opened: unknown[] = [];
    const listener = (work: unknown) => void opened.push(work);
    workChannel.subscribe(listener);
    const test = { scenario: "A parcel.", assertions: [] } as unknown as Result["test"];
    const run = { revision: 1, readBy: readByNothing, turn: undefined, checkId: null };
    const readAll = async (traceId: string) => {
      await host.outline({ prices, traceId });
      await host.turn({ traceId });
      assert.ok(await host.question({ traceId, ...run, result: { test, testId: "t" } }));
    };
    await readAll(dense);
    await readAll(long);
    await host.refresh(sender.agentId);
    assert.deepEqual(opened, []);
    assert.ok((await findTrace(db, stale))!.spanCount > 99);
    await readAll(plain);
    assert.equal(opened.length, 3);
    workChannel.unsubscribe(listener);
    await host.close();
  });

  test("refuses a trace with more", async () => {
    const [dense, plain] = [await store(2_000), await store(10)];
    const host = open(small);
    await assert.rejects(host.outline({ prices, traceId: dense }), tooLarge);
    assert.equal((await host.outline({ prices, traceId: plain }))!.head.spanCount, 1);
    await host.close();
  });
});
