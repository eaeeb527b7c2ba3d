// The memory budget for traces in a thread: never exceeded, first come first served, and nobody waits forever.
import assert from "node:assert/strict";
import { test } from "node:test";
import { TraceRoom } from "../../src/load/trace-room.ts";
import { traceHeapBytes } from "../../src/threads/heap.ts";

const limits = { bytes: 1_000, elements: 100 };
const whole = traceHeapBytes(limits);
const turn = () => new Promise(resolve => setImmediate(resolve));

test("one trace of the maximum size fits, and no larger one", () => {
  const room = new TraceRoom(limits);
  assert.deepEqual([room.fits(whole), room.fits(whole + 1)], [true, false]);
});

test("a trace that does not fit waits until enough is released, and later ones wait behind it", async () => {
  const room = new TraceRoom(limits);
  const taken: string[] = [];
  const take = (name: string, bytes: number) =>
    room.alone(async () => {
      const share = (await room.take(bytes))!;
      taken.push(name);
      return share;
    });
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

test("a share that grew blocks others until it is released", async () => {
  const room = new TraceRoom(limits);
  const first = (await room.take(1))!;
  first.grow(whole);
  const second = room.take(1);
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
  const room = new TraceRoom(limits);
  const held = (await room.take(whole))!;
  const calledOff = new AbortController();
  const waiting = room.alone(() => room.take(1, calledOff.signal));
  const next = room.alone(() => room.take(2));
  await turn();
  calledOff.abort();
  assert.equal(await waiting, undefined);
  held.release();
  assert.ok(await next);
});

test("cached traces are evicted before anything waits", async () => {
  const room = new TraceRoom(limits);
  const kept = [(await room.take(whole / 2))!, (await room.take(whole / 2))!];
  room.makeRoom = () => {
    const oldest = kept.shift();
    oldest?.release();
    return oldest !== undefined;
  };
  assert.ok(await room.take(whole / 2));
  assert.equal(kept.length, 1);
});

test("failed work does not block the next", async () => {
  const room = new TraceRoom(limits);
  const failed = room.alone(async () => {
    throw new Error("away");
  });
  await assert.rejects(failed, /away/);
  assert.equal(await room.alone(async () => 1), 1);
});
