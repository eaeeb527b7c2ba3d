// Cost of traces: kept as usage by model, ordered by what it costs at the prices of the day, counted by model and hour.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { PriceList } from "../../../src/model/price/price.ts";
import { decodeUsage } from "../../../src/reading/derived/usage.ts";
import { newest } from "../../../src/store/listing.ts";
import { claimRuns } from "../../../src/store/runs/claims.ts";
import { listModelPoints } from "../../../src/store/runs/model-hours.ts";
import { listTraces } from "../../../src/store/trace-lists/list.ts";
import { listOrdered } from "../../../src/store/trace-lists/ordered.ts";
import { listTraceValues } from "../../../src/store/trace-lists/values.ts";
import { deleteTrace } from "../../../src/store/traces/read.ts";
import { TraceWriter } from "../../../src/store/traces/writer.ts";
import { completeRuns } from "../../support/complete-runs.ts";
import { canonicalWrite, limits, makeSender, openTwice, type Sender } from "./make-write.ts";

const { db, close } = await openTwice();
after(close);
const writer = new TraceWriter(db, limits);

const usage = (model: string | null, input: number, provider = "openai") => ({
  ...(model !== null && { "gen_ai.provider.name": provider, "gen_ai.request.model": model }),
  "gen_ai.usage.input_tokens": input,
  "gen_ai.usage.output_tokens": 10,
});

async function store(sender: Sender, attributes: Record<string, unknown>): Promise<string> {
  const write = canonicalWrite(sender, { attributes });
  await writer.write(write);
  return write.traceId;
}

test("the usage of a trace is on its row, and its providers are found and go with it", async () => {
  const sender = await makeSender(db, { judged: false });
  const id = await store(sender, usage("gpt-4o", 100));
  await store(sender, usage("claude-x", 100, "anthropic"));
  const listing = { before: newest, rowsMax: 10 };
  const { rows } = await listTraces(db, sender.agentId, { provider: "openai" }, listing);
  assert.deepEqual(
    rows.map(row => row.id),
    [id],
  );
  const [{ provider, model, inputTokens } = assert.fail()] = decodeUsage(rows[0]!.usage)!;
  assert.deepEqual([provider, model, inputTokens], ["openai", "gpt-4o", 100]);
  assert.deepEqual(await listTraceValues(db, sender.agentId, "provider"), ["anthropic", "openai"]);
  await deleteTrace(db, id);
  assert.deepEqual(await listTraceValues(db, sender.agentId, "provider"), ["anthropic"]);
});

test("traces are listed by cost, page by page, with unknown costs last and own prices applied at once", async () => {
  const sender = await makeSender(db, { judged: false });
  const ids = {
    cheap: await store(sender, usage("gpt-4o-mini", 1_000)),
    unknown: await store(sender, usage("house-7b", 9_000)),
    dear: await store(sender, usage("gpt-4o", 1_000)),
    none: await store(sender, {}),
    same: await store(sender, usage("gpt-4o", 1_000)),
  };
  const nameOf = new Map(Object.entries(ids).map(([name, id]) => [id, name]));
  const orderOf = async (sort: "most_expensive" | "least_expensive", prices: PriceList, rowsMax: number) => {
    const names: (string | undefined)[] = [];
    let after: Awaited<ReturnType<typeof listOrdered>>["next"] | undefined;
    do {
      const page = await listOrdered(
        db,
        sender.agentId,
        {},
        { sort, rowsMax, prices, ...(after && { after }) },
      );
      assert.ok(page.count === 5 && page.rows.length <= rowsMax);
      names.push(...page.rows.map(({ id }) => nameOf.get(id)));
      after = page.next;
    } while (after);
    return names;
  };
  const builtIn = new PriceList([]);
  for (const rowsMax of [2, 10]) {
    assert.deepEqual(await orderOf("most_expensive", builtIn, rowsMax), [
      "same",
      "dear",
      "cheap",
      "none",
      "unknown",
    ]);
    assert.deepEqual(await orderOf("least_expensive", builtIn, rowsMax), [
      "cheap",
      "same",
      "dear",
      "none",
      "unknown",
    ]);
  }
  const own = new PriceList([{ model: "house-7b", validFrom: "2026-01-01", inputUsd: 1_000, outputUsd: 0 }]);
  assert.deepEqual(await orderOf("most_expensive", own, 2), ["unknown", "same", "dear", "cheap", "none"]);
  const { rows } = await listOrdered(
    db,
    sender.agentId,
    { model: "gpt-4o" },
    { sort: "most_expensive", rowsMax: 10, prices: builtIn },
  );
  assert.deepEqual(
    rows.map(({ id }) => nameOf.get(id)),
    ["same", "dear"],
  );
});

test("completed runs count the tokens of their traces by model and hour", async () => {
  const sender = await makeSender(db);
  const lease = crypto.randomUUID();
  const complete = async (attributes: Record<string, unknown>) => {
    const write = canonicalWrite(sender, { attributes });
    await writer.write(write);
    await claimRuns(db, { lease, leaseMs: 60_000, runsMax: 10 });
    const none = { passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0 };
    const verdict = {
      routing: "ok",
      verdict: null,
      score: null,
      counts: none,
      fullyEvaluated: true,
      results: [],
      tests: [],
    } as const;
    await completeRuns(db, lease, [
      {
        id: write.runId,
        revision: 1,
        verdict: { ...verdict, results: [], tests: [] },
        outage: false,
        durationMs: null,
        tokens: { input: null, output: null },
        usage: decodeUsage(write.columns.usage)!,
      },
    ]);
  };
  await complete(usage("gpt-4o", 100));
  await complete(usage("gpt-4o", 50));
  await complete(usage(null, 7));
  await complete({ "gen_ai.request.model": "silent" });
  const span = { from: new Date(0), to: new Date(Date.now() + 86_400_000), interval: "day" } as const;
  const points = await listModelPoints(db, sender.agentId, span, 100);
  const counted = new Map<string | null, number[]>();
  for (const { model, calls, unmeasured, inputTokens, outputTokens } of points) {
    const known = counted.get(model) ?? [0, 0, 0, 0];
    counted.set(
      model,
      [calls, unmeasured, inputTokens, outputTokens].map((number, at) => number + known[at]!),
    );
  }
  assert.deepEqual(
    [...counted],
    [
      ["gpt-4o", [2, 0, 150, 20]],
      ["silent", [1, 1, 0, 0]],
      [null, [1, 0, 7, 10]],
    ],
  );
});
