// No account and no key can hold every permit, and those who hold none get the next one.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { FairSemaphore, type Release } from "../../src/threads/fair-semaphore.ts";

/** Takes permits for these holders until one is refused. */
function takeAll(semaphore: FairSemaphore, ...holders: string[]): Release[] {
  const taken: Release[] = [];
  for (let release = semaphore.tryAcquire(holders); release; release = semaphore.tryAcquire(holders)) {
    taken.push(release);
  }
  return taken;
}

suite("a share of the permits", () => {
  for (const [count, shares, taken] of [
    [1, [0.5], [1]],
    [2, [0.5], [1, 1]],
    [3, [0.5], [1, 1, 1]],
    [4, [0.5], [2, 1, 1]],
    [6, [0.5], [3, 1, 1, 1]],
    [100, [0.5], [50, 25, 12, 6, 3, 2, 1, 1]],
    [4, [0.75], [3, 1]],
    [100, [0.75], [75, 18, 5, 1, 1]],
  ] as const) {
    test(`of ${shares} of ${count}: accounts one after the other hold ${taken}`, () => {
      const semaphore = new FairSemaphore(count, shares);
      const held = taken.map((_, account) => takeAll(semaphore, `account ${account}`).length);
      assert.deepEqual([held, semaphore.free], [taken, 0]);
    });
  }

  test("of a key leaves permits to the account's other keys, and both leave some to other accounts", () => {
    const semaphore = new FairSemaphore(16, [0.75, 0.5]);
    const held = ["one", "two", "three"].map(key => takeAll(semaphore, "account", key).length);
    assert.deepEqual(held, [8, 4, 0]);
    assert.ok(takeAll(semaphore, "other", "key").length > 0);
  });
});

suite("a permit that becomes free", () => {
  test("goes past those that have their share to the first that has not", async () => {
    const semaphore = new FairSemaphore(2, [0.5]);
    const [first] = takeAll(semaphore, "large");
    const [second] = takeAll(semaphore, "small");
    const order: string[] = [];
    const wait = async (holder: string) => {
      const release = await semaphore.acquire([holder]);
      order.push(holder);
      return release;
    };
    const waiting = [wait("large"), wait("large"), wait("new")];
    assert.equal(semaphore.queued, 3);
    second!();
    (await waiting[2])!();
    assert.deepEqual(order, ["new"]);
    first!();
    (await waiting[0])!();
    (await waiting[1])!();
    assert.deepEqual([order, semaphore.free, semaphore.queued], [["new", "large", "large"], 2, 0]);
    assert.equal(semaphore.isHolding(["large", "new", "small"]), false);
  });

  test("is released once, however often release is called", () => {
    const semaphore = new FairSemaphore(4, [0.5]);
    const [release] = takeAll(semaphore, "a");
    release!();
    release!();
    assert.equal(semaphore.free, 3);
    assert.equal(semaphore.isHolding(["a"]), true);
  });
});

test("a waiter whose time is up or that aborts gets no permit, and takes none from the others", async () => {
  const semaphore = new FairSemaphore(1, [0.5]);
  const held = semaphore.tryAcquire(["a"])!;
  assert.equal(await semaphore.acquire(["b"], { timeoutMs: 1 }), undefined);
  const leaving = new AbortController();
  const left = semaphore.acquire(["b"], { signal: leaving.signal });
  const next = semaphore.acquire(["c"]);
  leaving.abort();
  assert.deepEqual([await left, semaphore.queued], [undefined, 1]);
  held();
  assert.ok(await next);
  assert.equal(await semaphore.acquire(["d"], { signal: leaving.signal }), undefined);
});
