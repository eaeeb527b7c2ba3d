// The memory budget for traces in a thread: never exceeded, served by turns, and nobody waits forever.
import assert from "node:assert/strict";
import { test } from "node:test";
import { HeapSemaphore } from "../../src/load/heap-semaphore.ts";
import { passingHeapBytes, traceHeapBytes } from "../../src/threads/heap.ts";

const limits = { bytes: 1_000, elements: 100 };
const whole = traceHeapBytes(limits);
const turn = () => new Promise(resolve => setImmediate(resolve));

test("one trace of the maximum size fits, and no larger one", () => {
  const heap = new HeapSemaphore(limits);
  assert.deepEqual([heap.fits(whole), heap.fits(whole + 1)], [true, false]);
});

test("a trace that does not fit waits until enough is released, and later ones wait behind it", async () => {
  const heap = new HeapSemaphore(limits);
  const taken: string[] = [];
  const take = async (name: string, bytes: number) => {
    const share = (await heap.take(bytes))!;
    taken.push(name);
    return share;
  };
  const [a, b] = await Promise.all([take("a", whole / 2), take("b", whole / 2)]);
  const large = take("large", whole);
  const small = take("small", 1);
  await turn();
  a.release();
  a.release();
  await turn();
  assert.deepEqual(taken, ["a", "b"]);
  b.release();
  (await large).release();
  await small;
  assert.deepEqual(taken, ["a", "b", "large", "small"]);
});

test("small traces pass one that waits, which waits for no longer, and leave room for other accounts", async () => {
  const heap = new HeapSemaphore(limits);
  const held = (await heap.take(whole))!;
  const large = heap.take(whole);
  const small = Math.floor(passingHeapBytes(limits) / 8);
  const passed = Array.from({ length: 10 }, () => heap.tryTake(small, ["many", "agent"]));
  assert.equal(passed.filter(share => share).length, 4);
  assert.equal(heap.tryTake(2 * small, ["one", "agent"]), undefined);
  assert.ok(heap.tryTake(small, ["one", "agent"]));
  held.release();
  assert.ok(await large);
  for (const share of passed) share?.release();
  const later = heap.take(1);
  assert.ok(heap.tryTake(small, ["many", "agent"]));
  (await large)!.release();
  assert.ok(await later);
});

test("a share that grew blocks others until it is released", async () => {
  const heap = new HeapSemaphore(limits);
  const first = (await heap.take(1))!;
  first.grow(whole);
  const second = heap.take(1);
  let admitted = false;
  void second.then(() => {
    admitted = true;
  });
  await turn();
  assert.equal(admitted, false);
  first.release();
  assert.ok(await second);
});

test("an aborted wait gets no share, and the next one in line does", async () => {
  const heap = new HeapSemaphore(limits);
  const held = (await heap.take(whole))!;
  const calledOff = new AbortController();
  const waiting = heap.alone(() => heap.take(1, calledOff.signal));
  const next = heap.alone(() => heap.take(2));
  await turn();
  calledOff.abort();
  assert.equal(await waiting, undefined);
  held.release();
  assert.ok(await next);
});

test("cached traces are evicted before anything waits", async () => {
  const heap = new HeapSemaphore(limits);
  const kept = [(await heap.take(whole / 2))!, (await heap.take(whole / 2))!];
  heap.makeRoom = () => {
    const oldest = kept.shift();
    oldest?.release();
    return oldest !== undefined;
  };
  assert.ok(await heap.take(whole / 2));
  assert.equal(kept.length, 1);
});

test("failed work does not block the next", async () => {
  const heap = new HeapSemaphore(limits);
  const failed = heap.alone(async () => {
    throw new Error("away");
  });
  await assert.rejects(failed, /away/);
  assert.equal(await heap.alone(async () => 1), 1);
});
