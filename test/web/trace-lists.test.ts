// Lists of traces that are kept while another page is shown: they do not bring deleted traces back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { QueryClient } from "@tanstack/query-core";
import { TraceList } from "../../web/queries/trace-list.ts";
import { dropLists, removeFromLists, traceListKey } from "../../web/queries/trace-lists.ts";

async function keep(queries: QueryClient, agentId: string, search: object) {
  const items = ["3", "2", "1"].map(id => ({ id, externalId: id, run: null }));
  const list = new TraceList(async () => ({ items, nextCursor: null }), "sorted");
  await list.more();
  queries.setQueryData([...traceListKey(agentId), search], list);
  return () => list.shown().rows.map(({ id }) => id);
}

test("a deleted trace leaves every list of its agent", async () => {
  const queries = new QueryClient();
  const [all, slowest, others] = [
    await keep(queries, "a", {}),
    await keep(queries, "a", { order: "slowest" }),
    await keep(queries, "b", {}),
  ];
  removeFromLists(queries, "a", ["2"]);
  assert.deepEqual(
    [all(), slowest(), others()],
    [
      ["3", "1"],
      ["3", "1"],
      ["3", "2", "1"],
    ],
  );
});

test("after an erasure no list is kept, and other queries are", async () => {
  const queries = new QueryClient();
  await keep(queries, "a", {});
  await keep(queries, "b", {});
  queries.setQueryData(["agents", "a", "tests"], []);
  dropLists(queries);
  assert.deepEqual(
    queries
      .getQueryCache()
      .getAll()
      .map(({ queryKey }) => queryKey),
    [["agents", "a", "tests"]],
  );
});
