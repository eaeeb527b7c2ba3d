// Lists whose plans connections keep: few names, each for one statement, and no more rows read than by a new plan.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, suite, test } from "node:test";
import type pg from "pg";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import { type Database, type Places, type Session, transaction } from "../../../src/store/db.ts";
import { newest, oldest } from "../../../src/store/listing.ts";
import type { TraceFilters } from "../../../src/store/trace-lists/filters.ts";
import { listTraces } from "../../../src/store/trace-lists/list.ts";
import { namesMax } from "../../../src/store/trace-lists/names.ts";
import { storeTraces } from "../../support/stored-traces.ts";
import { rowsRead } from "../rows-read.ts";
import { makeSender, openTwice } from "../traces/make-write.ts";

const { db, close } = await openTwice();
after(close);

/** One value, or one for each statement that they need. */
const alone: TraceFilters[] = [
  { kind: "live" },
  { kind: "test_run" },
  { path: "otlp" },
  ...(["pending", "running", "error", "completed", "waiting", "none"] as const).map(state => ({ state })),
  ...(["passed", "failed", "none"] as const).map(verdict => ({ verdict })),
  ...(["ok", "unavailable"] as const).map(routing => ({ routing })),
  ...[true, false].flatMap(is => [{ failed: is }, { outage: is }]),
  ...(["open", "known", "resolved"] as const).map(resultState => ({ resultState })),
  { httpStatus: 200 },
  { httpStatus: 404 },
  { externalId: "7" },
  { tool: "search" },
  { model: "large" },
  { provider: "one" },
  { redacted: "email" },
  { conversationId: "c" },
  { userId: "u" },
  { testId: randomUUID() },
  { testIds: [randomUUID()] },
  { receivedFrom: new Date(0) },
  { receivedTo: new Date() },
  { durationMinMs: 1 },
  { durationMaxMs: 9_000 },
  { tokensMin: 1 },
  { tokensMax: 900 },
  { text: "parcel" },
];
const pairs = alone.flatMap(one => alone.map(other => ({ ...one, ...other })));

const rowsMax = 20;
const budget = { ms: 0, stretch: 50 };
const first = { before: newest, rowsMax };

test("few lists have a name, and each name is of one statement", async () => {
  const texts = new Map<string, string>();
  let unnamed = 0;
  const query = async ({ name, text }: pg.QueryConfig) => {
    if (name === undefined) unnamed++;
    else assert.equal(texts.get(name) ?? text, text, name);
    if (name !== undefined) texts.set(name, text);
    if (/ from runs s /.test(text))
      assert.equal(name, undefined, "a join of runs and traces is planned each time");
    return { rows: /^\s*with stretch/.test(text) ? [{ id: null, reach: null }] : [] };
  };
  const recording: Database = { ...db, pool: { query } as unknown as Session };
  for (const filters of [{}, ...alone, ...pairs]) {
    for (const listing of [first, { after: oldest, rowsMax }]) {
      await listTraces(recording, "agent", filters, listing, budget);
    }
  }
  const lists = [...texts].filter(([name]) => name.startsWith("list_traces_"));
  assert.equal(new Set(lists.map(([, text]) => text)).size, lists.length);
  // There is room for all of them, so which are used first makes no difference.
  assert.ok(lists.length > 20 && lists.length < namesMax, `${lists.length} lists`);
  assert.ok(texts.size - lists.length < 8, `${texts.size - lists.length} others`);
  assert.ok(unnamed > lists.length);
});

/** In which agents are where the connection leads. */
function databaseOf(client: pg.PoolClient): Database {
  const place: Database = { ...db, pool: client };
  const of = async (ids: Iterable<string>) => new Map([...ids].map(id => [id, place]));
  return { ...db, places: { of } as Places };
}

/** How many rows of traces and runs each of eight calls on one connection reads: it keeps a plan from the sixth on. */
async function readsOf(agentId: string, filters: TraceFilters): Promise<number[]> {
  return transaction(await placeOf(db, agentId), async client => {
    const count = () => rowsRead(client, "traces", "runs");
    const reads: number[] = [];
    for (let time = 0; time < 8; time++) {
      const begun = await count();
      await listTraces(databaseOf(client), agentId, filters, first, budget);
      reads.push((await count()) - begun);
    }
    return reads;
  });
}

suite("with statistics older than nearly all traces", () => {
  const agents: Record<string, string> = {};
  before(async () => {
    for (const table of ["traces", "runs"]) {
      await db.pool.query(`alter table ${table} set (autovacuum_enabled = false)`); // which analyzes
    }
    for (const [name, traces] of Object.entries({ few: 3, many: 2_000 })) {
      const { agentId } = await makeSender(db, { judged: false });
      await storeTraces(db, agentId, traces);
      if (name === "few") await db.pool.query("analyze traces, runs");
      agents[name] = agentId;
    }
  });

  for (const name of ["few", "many"]) {
    test(`a page of an agent with ${name} traces reads little`, async () => {
      const reads = await readsOf(agents[name]!, {});
      assert.ok(reads[0]! > 0, "readings are counted");
      // The end of the stretch, the rows, and a run for each.
      assert.ok(reads[7]! <= budget.stretch + 2 * rowsMax + 10, reads.join());
    });

    test(`one trace of an agent with ${name} is found by its external ID`, async () => {
      const reads = await readsOf(agents[name]!, { externalId: "2" });
      assert.ok(reads[0]! > 0 && reads[7]! <= 5, reads.join());
    });

    test(`no list of an agent with ${name} traces reads more once its plan is kept`, async () => {
      for (const filters of alone) {
        const reads = await readsOf(agents[name]!, filters);
        assert.ok(reads[7]! <= reads[0]! + 5, `${JSON.stringify(filters)}: ${reads}`);
      }
    });
  }
});
