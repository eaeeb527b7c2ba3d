// What is kept of loaded traces: no more than its bound, never an earlier revision, and nothing twice.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoadedTrace } from "../src/load.ts";
import { derive } from "../src/model/derive.ts";
import { keepLoaded, oneByOne, type TraceVersion } from "../src/trace-reader.ts";
import { makeSpan, makeTrace } from "./model/make-trace.ts";

function counting(): { loads: string[]; load: (version: TraceVersion) => Promise<LoadedTrace> } {
  const loads: string[] = [];
  const trace = makeTrace([makeSpan("root")]);
  return {
    loads,
    async load({ traceId, revision }) {
      loads.push(`${traceId}${revision}`);
      return { traceId, agentId: "agent", revision, stale: false, trace, derived: derive(trace) };
    },
  };
}

const version = (traceId: string, revision = 1, bytes = 40): TraceVersion => ({ traceId, revision, bytes });

test("a trace that is asked for again, or twice at once, is loaded once", async () => {
  const { loads, load } = counting();
  const kept = keepLoaded(load, 100);
  await Promise.all([kept(version("a")), kept(version("a"))]);
  await kept(version("a"));
  assert.deepEqual(loads, ["a1"]);
});

test("a later revision is loaded anew", async () => {
  const { loads, load } = counting();
  const kept = keepLoaded(load, 100);
  await kept(version("a", 1));
  assert.equal((await kept(version("a", 2)))!.revision, 2);
  assert.deepEqual(loads, ["a1", "a2"]);
});

test("beyond the bytes that may be kept what was asked for longest ago goes, the last one never", async () => {
  const { loads, load } = counting();
  const kept = keepLoaded(load, 100);
  for (const traceId of ["a", "b", "a", "c", "a", "b"]) await kept(version(traceId));
  assert.deepEqual(loads, ["a1", "b1", "c1", "b1"]);
  await kept(version("huge", 1, 1_000));
  await kept(version("huge", 1, 1_000));
  assert.deepEqual(loads.slice(4), ["huge1"]);
});

test("of traces that are asked for together one is opened at a time, though another failed", async () => {
  const { load } = counting();
  let opening = 0;
  const alone = oneByOne(async version => {
    opening++;
    await new Promise(resolve => setImmediate(resolve));
    assert.equal(opening, 1);
    opening--;
    if (version.traceId === "b") throw new Error("away");
    return load(version);
  });
  const results = await Promise.allSettled(["a", "b", "c"].map(traceId => alone(version(traceId))));
  assert.deepEqual(
    results.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
});

test("what could not be loaded is tried again", async () => {
  let tries = 0;
  const kept = keepLoaded(async () => {
    tries++;
    throw new Error("away");
  }, 100);
  await assert.rejects(kept(version("a")), /away/);
  await assert.rejects(kept(version("a")), /away/);
  assert.equal(tries, 2);
});
