// The cache of loaded traces: limited in size, never an earlier revision, and nothing loaded twice.
import assert from "node:assert/strict";
import { test } from "node:test";
import { derive } from "../src/reading/derived/derive.ts";
import { type AcquireVersion, cacheTraces, type TraceVersion } from "../src/trace-reader.ts";
import { makeSpan, makeTrace } from "./model/make-trace.ts";

function counting(): { loads: string[]; released: string[]; hold: AcquireVersion } {
  const loads: string[] = [];
  const released: string[] = [];
  const trace = makeTrace([makeSpan("root")]);
  return {
    loads,
    released,
    async hold({ traceId, revision }) {
      loads.push(`${traceId}${revision}`);
      const owners = { agentId: "agent", accountId: "account" };
      const read = {
        trace,
        read: trace,
        reading: null,
        conventions: [],
        conventionRules: [],
        derived: derive(trace),
      };
      const loaded = { traceId, ...owners, revision, stale: false, sent: null, ...read };
      const release = () => void released.push(`${traceId}${revision}`);
      return { loaded: { ...loaded, heapBytes: 1_000 }, release };
    },
  };
}

const version = (traceId: string, revision = 1, bytes = 40, readBy = ""): TraceVersion => ({
  traceId,
  revision,
  bytes,
  readBy,
});

test("a trace that is requested again, or twice at once, is loaded once", async () => {
  const { loads, hold } = counting();
  const { load } = cacheTraces(hold, 100);
  await Promise.all([load(version("a")), load(version("a"))]);
  await load(version("a"));
  assert.deepEqual(loads, ["a1"]);
});

test("a later revision is loaded again", async () => {
  const { loads, released, hold } = counting();
  const { load } = cacheTraces(hold, 100);
  await load(version("a", 1));
  assert.equal((await load(version("a", 2)))!.revision, 2);
  assert.deepEqual(loads, ["a1", "a2"]);
  assert.deepEqual(released, ["a1"]);
});

test("beyond the size limit the least recently used trace is evicted, but never the last one", async () => {
  const { loads, released, hold } = counting();
  const { load } = cacheTraces(hold, 100);
  for (const traceId of ["a", "b", "a", "c", "a", "b"]) await load(version(traceId));
  assert.deepEqual(loads, ["a1", "b1", "c1", "b1"]);
  await load(version("huge", 1, 1_000));
  await load(version("huge", 1, 1_000));
  assert.deepEqual(loads.slice(4), ["huge1"]);
  assert.deepEqual(released, ["b1", "c1", "a1", "b1"]);
});

test("the least recently used trace is evicted for a trace that waits for memory", async () => {
  const { released, hold } = counting();
  const { load, drop } = cacheTraces(hold, 100);
  for (const traceId of ["a", "b"]) await load(version(traceId));
  assert.deepEqual([drop(), drop(), drop()], [true, true, false]);
  await new Promise(resolve => setImmediate(resolve));
  assert.deepEqual(released, ["a1", "b1"]);
});

test("a trace that failed to load is tried again", async () => {
  let tries = 0;
  const { load } = cacheTraces(async () => {
    tries++;
    throw new Error("away");
  }, 100);
  await assert.rejects(load(version("a")), /away/);
  await assert.rejects(load(version("a")), /away/);
  assert.equal(tries, 2);
});
