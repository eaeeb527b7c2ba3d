// Permits are granted in order, once each; a waiter that gives up by signal or time takes none.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Semaphore } from "../../src/threads/semaphore.ts";

test("permits are granted first in, first out, and each is released once, however often release is called", async () => {
  const semaphore = new Semaphore(1);
  const first = await semaphore.acquire({ timeoutMs: 60_000 });
  const order: string[] = [];
  const wait = async (name: string) => {
    const release = await semaphore.acquire({ timeoutMs: 60_000 });
    order.push(name);
    return release;
  };
  const second = wait("second");
  const third = wait("third");
  assert.deepEqual([semaphore.free, semaphore.queued, semaphore.idle], [0, 2, false]);
  first?.();
  first?.();
  const release = await second;
  assert.deepEqual(order, ["second"]);
  release?.();
  (await third)?.();
  assert.deepEqual(order, ["second", "third"]);
  assert.deepEqual([semaphore.free, semaphore.queued, semaphore.idle], [1, 0, true]);
  assert.ok(semaphore.tryAcquire());
  assert.equal(semaphore.tryAcquire(), undefined);
});

test("a waiter whose time is up gets no permit, and takes none from the others", async () => {
  const semaphore = new Semaphore(1);
  const held = await semaphore.acquire();
  assert.equal(await semaphore.acquire({ timeoutMs: 1 }), undefined);
  held?.();
  assert.ok(await semaphore.acquire());
});

test("a waiter that aborts leaves the queue to the next, and an aborted signal gets no permit", async () => {
  const semaphore = new Semaphore(1);
  const held = await semaphore.acquire();
  const leaving = new AbortController();
  const left = semaphore.acquire({ signal: leaving.signal });
  const next = semaphore.acquire();
  leaving.abort();
  assert.equal(await left, undefined);
  assert.equal(semaphore.queued, 1);
  held?.();
  assert.ok(await next);
  assert.equal(await semaphore.acquire({ signal: leaving.signal }), undefined);
});
