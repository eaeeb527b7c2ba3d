// Permits by name: the same limits hold for several processes together, and a process that ends gives back what it has.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Release } from "../../src/threads/fair-semaphore.ts";
import {
  borrowPermits,
  LentPermits,
  type NamedPermits,
  OwnPermits,
  permitsNamed,
} from "../../src/threads/named-permits.ts";

const places = (permits: NamedPermits, name = "places") =>
  permitsNamed(permits, { name, count: 4, shares: [0.5] });

/** Permits as another process has them, whose messages take a turn each way. */
function otherProcess(own: OwnPermits) {
  const lent = new LentPermits(own);
  const permits = borrowPermits(async message => lent.receive(JSON.parse(JSON.stringify(message))));
  return { permits, end: () => lent.releaseAll() };
}

async function taken(permits: ReturnType<typeof places>, holder: string): Promise<Release> {
  const release = await permits.take([holder], { timeoutMs: 0 });
  assert.equal(typeof release, "function", `a permit of ${holder}`);
  return release as Release;
}

test("two processes share the permits of one name, with the shares of each holder", async () => {
  const own = new OwnPermits();
  const [one, two] = [places(otherProcess(own).permits), places(otherProcess(own).permits)];
  await taken(one, "ada");
  await taken(two, "ada");
  assert.equal(await one.take(["ada"], { timeoutMs: 0 }), "share");
  await taken(one, "bob");
  await taken(two, "eve");
  assert.equal(await two.take(["joe"], { timeoutMs: 0 }), "full");
  await taken(places(own, "other places"), "joe");
});

test("who waits gets the permit that another process releases", async () => {
  const own = new OwnPermits();
  const [one, two] = [otherProcess(own), otherProcess(own)].map(({ permits }) =>
    permitsNamed(permits, { name: "one", count: 1 }),
  );
  const release = (await one!.take([])) as Release;
  const waiting = two!.take([]);
  release();
  release();
  assert.equal(typeof (await waiting), "function");
  assert.equal(await one!.take([], { timeoutMs: 0 }), "full");
});

test("a process that ends gives back its permits, and those it waits for", async () => {
  const own = new OwnPermits();
  const ending = otherProcess(own);
  const one = permitsNamed(ending.permits, { name: "one", count: 1 });
  await one.take([]);
  void one.take([]);
  ending.end();
  const after = permitsNamed(own, { name: "one", count: 1 });
  assert.equal(typeof (await after.take([])), "function");
});

test("a permit that was granted too late for its request is free again", async () => {
  const own = new OwnPermits();
  const other = permitsNamed(otherProcess(own).permits, { name: "one", count: 1 });
  const release = (await other.take([])) as Release;
  const gone = new AbortController();
  const waiting = other.take([], { signal: gone.signal });
  gone.abort();
  release();
  assert.equal(await waiting, "full");
  assert.equal(typeof (await other.take([], { timeoutMs: 0 })), "function");
  assert.equal(await other.take([], { signal: gone.signal }), "full");
});

test("a wait ends after its time", async () => {
  const own = new OwnPermits();
  const other = permitsNamed(otherProcess(own).permits, { name: "one", count: 1 });
  await other.take([]);
  assert.equal(await other.take([], { timeoutMs: 1 }), "full");
});
