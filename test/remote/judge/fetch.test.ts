// A judge whose address a user typed is called within the bounds of its connection, and let go with the question.
import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeFetch } from "../../../src/remote/judge/call.ts";
import type { Outbound } from "../../../src/remote/outbound.ts";

test("a call has the connection's time, follows no redirect, and ends with its signal", async () => {
  const calls: Parameters<Outbound["fetch"]>[] = [];
  const fetch: Outbound["fetch"] = async (...call) => {
    calls.push(call);
    return new Response("{}");
  };
  const { signal } = new AbortController();
  const init = { method: "POST", headers: { authorization: "Bearer key" }, body: "{}", signal };
  await judgeFetch({ fetch }, 120_000)("https://judge.example.com/v1", init);
  assert.deepEqual(calls, [["https://judge.example.com/v1", init, { timeoutMs: 120_000, redirectsMax: 0 }]]);
  assert.equal(calls[0]![1]!.signal, signal);
});
