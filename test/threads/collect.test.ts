// Collecting the garbage of a thread on demand.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { collectGarbage } from "../../src/threads/collect.ts";

test("frees what is no longer used, and adds nothing to the global object", () => {
  const megabytes = () => process.memoryUsage().heapUsed / 1024 / 1024;
  collectGarbage();
  const before = megabytes();
  const used = Array.from({ length: 16 }, () => new Array(128 * 1024).fill({}));
  assert.ok(megabytes() >= before + 16);
  used.length = 0;
  collectGarbage();
  assert.ok(megabytes() < before + 4);
  assert.equal("gc" in globalThis, false);
});

test("works in threads that collect for the first time at the same time", async () => {
  // A copy of the module for each time.
  const run = `const { module, arrived } = require("node:worker_threads").workerData;
    const count = new Int32Array(arrived);
    const collectAll = async () => {
      for (let time = 1; time <= 30; time++) {
        const { collectGarbage } = await import(module + "?" + time);
        Atomics.add(count, 0, 1);
        while (Atomics.load(count, 0) < 2 * time);
        collectGarbage();
      }
    };
    collectAll();`;
  const module = new URL("../../src/threads/collect.ts", import.meta.url).href;
  const workerData = { module, arrived: new SharedArrayBuffer(4) };
  const threads = [0, 1].map(() => new Worker(run, { eval: true, workerData }));
  try {
    await Promise.all(threads.map(thread => once(thread, "exit")));
  } finally {
    await Promise.all(threads.map(thread => thread.terminate()));
  }
});
