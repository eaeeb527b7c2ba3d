// Reading traces: filtered lists, whole batches, and columns that a merge left out of date.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { refreshStale } from "../../../src/load/stale.ts";
import type { Routing, Verdict } from "../../../src/model/run/run.ts";
import { newest } from "../../../src/store/listing.ts";
import { newId } from "../../../src/store/new-id.ts";
import { claimRuns } from "../../../src/store/runs/claims.ts";
import { loadBatches } from "../../../src/store/traces/batches.ts";
import { listTraces, type TraceFilters } from "../../../src/store/traces/list.ts";
import { deleteTrace, findTrace } from "../../../src/store/traces/read.ts";
import { listStale, updateColumns } from "../../../src/store/traces/stale.ts";
import type { TraceWrite } from "../../../src/store/traces/write.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { completeRuns } from "../../support/complete-runs.ts";
import { decodeBatch } from "../../support/decode-batch.ts";
import { canonicalWrite, limits, makeSender, openTwice, otlpWrite } from "./make-write.ts";

const { db, close } = await openTwice();
after(close);
const writer = new TraceWriter(db, limits);
const sender = await makeSender(db);

describe("the list of an agent's traces", () => {
  const mine: Record<string, string> = {};

  async function add(
    name: string,
    columns: Partial<TraceWrite["columns"]>,
    make: typeof canonicalWrite = canonicalWrite,
  ): Promise<void> {
    const write = make(sender, { externalId: name });
    write.columns = { ...write.columns, name, ...columns };
    mine[name] = write.traceId;
    await writer.write(write);
  }

  async function judge(name: string, routing: Routing, outcome: Verdict["verdict"], testId: string) {
    const lease = crypto.randomUUID();
    await db.pool.query("update runs set due_at = now() - interval '1 hour' where trace_id = $1", [
      mine[name],
    ]);
    const [run] = (await claimRuns(db, { lease, leaseMs: 60_000, runsMax: 1 })).runs;
    assert.equal(run!.traceId, mine[name]);
    const counts = { passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 };
    const verdict: Verdict = {
      routing,
      verdict: outcome,
      score: null,
      counts,
      results: [{ testId, outcome: "passed", checks: [] } as never],
      tests: [],
    };
    const tokens = { input: null, output: null, reasoning: null, cached: null, total: null };
    await completeRuns(db, lease, [
      { id: run!.id, revision: 1, verdict, outage: false, durationMs: null, tokens, usage: [] },
    ]);
  }

  const [testA, testB] = [crypto.randomUUID(), crypto.randomUUID()];
  before(async () => {
    await add("fast", { durationMs: 10, httpStatus: 200, inputTokens: 5, outputTokens: 5 });
    await add("slow", { durationMs: 5_000.5, httpStatus: 500, failed: true, outputTokens: 300 });
    await add("100%_sure\\", { userInput: "Where is my Parcel?", responseText: "In Lyon" });
    await add("batches", {}, otlpWrite);
    await judge("fast", "ok", "passed", testA);
    await judge("slow", "unavailable", "failed", testB);
    await writer.write(canonicalWrite(await makeSender(db)));
  });

  async function names(filters: TraceFilters, listing = { before: newest, rowsMax: 50 }): Promise<string[]> {
    return (await listTraces(db, sender.agentId, filters, listing)).rows.map(trace => trace.name);
  }

  it("is newest first, in pages without duplicates or gaps", async () => {
    const all = ["batches", "100%_sure\\", "slow", "fast"];
    assert.deepEqual(await names({}), all);
    assert.deepEqual(await names({}, { before: newest, rowsMax: 3 }), all.slice(0, 3));
    assert.deepEqual(await names({}, { before: mine["slow"]!, rowsMax: 3 }), ["fast"]);
  });

  const cases: [TraceFilters, string[]][] = [
    [{ kind: "live" }, ["batches", "100%_sure\\", "slow", "fast"]],
    [{ kind: "test_run" }, []],
    [{ path: "otlp" }, ["batches"]],
    [{ failed: true }, ["slow"]],
    [{ httpStatus: 200 }, ["fast"]],
    [{ externalId: "slow" }, ["slow"]],
    [{ durationMinMs: 10, durationMaxMs: 10 }, ["fast"]],
    [{ durationMinMs: 11 }, ["slow"]],
    [{ tokensMin: 10, tokensMax: 10 }, ["fast"]],
    [{ tokensMin: 11 }, ["slow"]],
    [{ state: "pending" }, ["batches", "100%_sure\\"]],
    [{ state: "completed" }, ["slow", "fast"]],
    [{ verdict: "passed" }, ["fast"]],
    [{ routing: "unavailable" }, ["slow"]],
    [{ testId: testA }, ["fast"]],
    [{ testId: testA, failed: true }, []],
    [{ text: "parcel" }, ["100%_sure\\"]],
    [{ text: "LYON" }, ["100%_sure\\"]],
    [{ text: "%" }, ["100%_sure\\"]],
    [{ text: "_" }, ["100%_sure\\"]],
    [{ text: "\\" }, ["100%_sure\\"]],
    [{ receivedTo: new Date(0) }, []],
    [{ receivedFrom: new Date(0) }, ["batches", "100%_sure\\", "slow", "fast"]],
  ];
  for (const [filters, expected] of cases) {
    it(`filtered by ${JSON.stringify(filters).replace(/[0-9a-f-]{36}/, "…")} has exactly the matching traces`, async () => {
      assert.deepEqual(await names(filters), expected);
    });
  }

  it("shows the verdict of the latest completed run next to a later pending run", async () => {
    await db.pool.query(
      `insert into runs (id, trace_id, agent_id, kind, state, due_at)
       values ($1, $2, $3, 'passive', 'pending', now() + interval '1 hour')`,
      [newId(), mine["fast"], sender.agentId],
    );
    const { rows } = await listTraces(
      db,
      sender.agentId,
      { externalId: "fast" },
      { before: newest, rowsMax: 1 },
    );
    assert.deepEqual([rows[0]!.run!.state, rows[0]!.run!.verdict], ["completed", "passed"]);
  });

  it("finds traces without a run", async () => {
    const unjudged = await makeSender(db, { judged: false });
    await writer.write(canonicalWrite(unjudged));
    const { rows: found } = await listTraces(
      db,
      unjudged.agentId,
      { state: "none" },
      { before: newest, rowsMax: 9 },
    );
    assert.equal(found.length, 1);
    assert.equal(found[0]!.run, null);
  });
});

describe("batches", () => {
  it("are loaded in the order in which they were stored", async () => {
    const externalId = "ordered";
    let traceId = "";
    for (const text of ["one", "two", "three"]) {
      ({ traceId } = await writer.write(otlpWrite(sender, { externalId, text })));
    }
    const { batches, revision } = (await loadBatches(db, [traceId])).loaded.get(traceId)!;
    assert.equal(revision, 3);
    assert.deepEqual(
      batches.map(batch => decodeBatch(batch.spans).spans[0]!.attributes["gen_ai.response.text"]),
      ["one", "two", "three"],
    );
  });

  it("of an unknown trace are missing, without hiding the others", async () => {
    const { traceId } = await writer.write(canonicalWrite(sender));
    const { loaded } = await loadBatches(db, [crypto.randomUUID(), traceId]);
    assert.deepEqual([...loaded.keys()], [traceId]);
  });

  it("are loaded smallest first, up to a total size, and for at least one trace", async () => {
    const sizes = [3_000, 1_000, 2_000];
    const [large, small, middle] = await Promise.all(
      sizes.map(async size => {
        const text = "x".repeat(size);
        return (await writer.write(otlpWrite(sender, { externalId: `size ${size}`, text }))).traceId;
      }),
    );
    const all = [large!, small!, middle!];
    const keys = async (ids: string[], bytesMax: number) => {
      const { loaded, left } = await loadBatches(db, ids, bytesMax);
      return { loaded: [...loaded.keys()], left };
    };
    const { rows } = await db.pool.query<{ bytes: number }>(
      "select sum(batch_bytes)::float8 as bytes from traces where id = any ($1)",
      [[small, middle]],
    );
    const two = rows[0]!.bytes;
    assert.deepEqual(await keys(all, two), { loaded: [small, middle], left: [large] });
    assert.deepEqual(await keys(all, two - 1), { loaded: [small], left: [middle, large] });
    assert.deepEqual(await keys(all, 1), { loaded: [small], left: [middle, large] });
    assert.deepEqual(await keys([large!], 1), { loaded: [large], left: [] });
  });

  it("are deleted with their trace, as are its runs", async () => {
    const { traceId } = await writer.write(canonicalWrite(sender));
    assert.equal(await deleteTrace(db, traceId), true);
    assert.equal(await deleteTrace(db, traceId), false);
    const { rows } = await db.pool.query(
      `select (select count(*)::int from runs where trace_id = $1) as runs,
        (select count(*)::int from trace_batches where trace_id = $1) as batches`,
      [traceId],
    );
    assert.deepEqual(rows, [{ runs: 0, batches: 0 }]);
  });
});

describe("columns that a merge left out of date", () => {
  async function merged(...texts: string[]): Promise<string> {
    const externalId = crypto.randomUUID();
    let traceId = "";
    for (const [at, text] of texts.entries()) {
      const spans = at === 0 ? ["a"] : ["a", `b${at}`];
      ({ traceId } = await writer.write(otlpWrite(sender, { externalId, spans, text })));
    }
    return traceId;
  }

  it("are listed by latest change and brought up to date from all batches", async () => {
    await refreshStale(db, {});
    const traceIds = [await merged("old", "new"), await merged("old", "newer")];
    const stale = await listStale(db, { agentId: sender.agentId, limit: 10 });
    assert.deepEqual(
      stale.map(({ id }) => id),
      traceIds.toReversed(),
    );
    assert.equal((await findTrace(db, traceIds[0]!))!.responseText, "old");
    assert.equal(await refreshStale(db, { agentId: sender.agentId }), 2);
    const row = (await findTrace(db, traceIds[0]!))!;
    assert.deepEqual([row.responseText, row.spanCount, row.revision, row.derivedRevision], ["new", 2, 2, 2]);
    assert.deepEqual(await listStale(db, { agentId: sender.agentId, limit: 10 }), []);
  });

  it("are left alone while more batches may arrive", async () => {
    await merged("old", "new");
    assert.deepEqual(await listStale(db, { quietMs: 60_000, limit: 10 }), []);
  });

  it("are never overwritten by values derived from an earlier revision", async () => {
    const traceId = await merged("old", "new");
    const { columns } = otlpWrite(sender, { text: "derived too early" });
    await updateColumns(db, [{ traceId, revision: 1, columns }]);
    assert.equal((await findTrace(db, traceId))!.responseText, "old");
    await updateColumns(db, [{ traceId, revision: 2, columns }]);
    assert.equal((await findTrace(db, traceId))!.responseText, "derived too early");
  });

  it("are exact immediately for a replaced trace", async () => {
    const externalId = "exact";
    await writer.write(otlpWrite(sender, { externalId, text: "before" }));
    const { traceId } = await writer.write(canonicalWrite(sender, { externalId, text: "after" }));
    const { responseText, derivedRevision, revision } = (await findTrace(db, traceId))!;
    assert.deepEqual([responseText, derivedRevision, revision], ["after", 2, 2]);
  });
});
