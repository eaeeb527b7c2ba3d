// How much the statements of lists of traces read.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import { newest, oldest } from "../../../src/store/listing.ts";
import type { TraceFilters } from "../../../src/store/trace-lists/filters.ts";
import type { Order } from "../../../src/store/trace-lists/path.ts";
import { pageStatement, planList } from "../../../src/store/trace-lists/sql.ts";
import { storeTraces } from "../../support/stored-traces.ts";
import { makeSender, openTwice } from "../traces/make-write.ts";

const { db, close } = await openTwice();
after(close);

type Node = { "Relation Name"?: string; "Index Name"?: string; "Actual Loops": number; Plans?: Node[] };

/** On a cluster, a shard's number follows. */
const named = (name: string | undefined) => name?.replace(/_\d+$/, "");

/** How often the statement's plan looks into the table. */
function looksInto(table: string, node: Node): number {
  const below = (node.Plans ?? []).reduce((sum, one) => sum + looksInto(table, one), 0);
  return below + (named(node["Relation Name"]) === table ? node["Actual Loops"] : 0);
}

const traces = 300;
const rowsMax = 51;

for (const order of ["newest", "oldest"] as Order[]) {
  test(`a page by a common value, ${order} first, looks up the runs of its own rows only`, async () => {
    const { agentId } = await makeSender(db, { judged: false });
    await storeTraces(db, agentId, traces);
    await db.pool.query("update traces set tools = array['search'] where agent_id = $1", [agentId]);
    const filters: TraceFilters = { tool: "search" };
    const { text, values } = pageStatement(planList(agentId, filters, order, true));
    const [from, to] = order === "newest" ? [newest, oldest] : [oldest, newest];
    const place = await placeOf(db, agentId);
    const { rows } = await place.pool.query<{ "QUERY PLAN": { Plan: Node }[] }>(
      `explain (analyze, format json) ${text}`,
      [from, to, rowsMax, 500, [oldest], [newest], ...values],
    );
    const looks = looksInto("runs", rows[0]!["QUERY PLAN"][0]!.Plan);
    assert.ok(looks >= rowsMax && looks < traces, `${looks} looks`);
  });
}

const indexesOf = (node: Node): string[] => [
  ...(node["Index Name"] ? [named(node["Index Name"])!] : []),
  ...(node.Plans ?? []).flatMap(indexesOf),
];

for (const [name, filters] of [
  ["traces_conversation", { conversationId: "c" }],
  ["traces_user", { userId: "u" }],
] as const) {
  test(`a page of ${Object.keys(filters)} is found by its index, with statistics and without`, async () => {
    const { agentId } = await makeSender(db, { judged: false });
    await storeTraces(db, agentId, traces);
    const place = await placeOf(db, agentId);
    await place.pool.query(
      `update traces set conversation_id = 'c', user_id = 'u', turn_at = 1
       where id in (select id from traces where agent_id = $1 order by id limit 3)`,
      [agentId],
    );
    for (const analyzed of [false, true]) {
      if (analyzed) await db.pool.query("analyze traces");
      const { text, values } = pageStatement(planList(agentId, filters, "newest", false));
      const { rows } = await place.pool.query<{ "QUERY PLAN": { Plan: Node }[] }>(
        `explain (analyze, format json) ${text}`,
        [newest, oldest, rowsMax, 500, ...values],
      );
      const indexes = indexesOf(rows[0]!["QUERY PLAN"][0]!.Plan);
      assert.ok(indexes.includes(name) && !indexes.includes("traces_newest"), indexes.join());
    }
  });
}
