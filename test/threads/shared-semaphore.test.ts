// Threads share the permits of a semaphore in order; the permits of a thread that ended are released.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type PermitGrant, SharedSemaphores, shareSemaphores } from "../../src/threads/shared-semaphore.ts";

/** Threads in one: messages arrive synchronously. */
function threads(count: number) {
  const main = new SharedSemaphores();
  return {
    main,
    threads: Array.from({ length: count }, () => {
      const port = { postMessage: ({ id }: PermitGrant) => own.granted(id) };
      const own = shareSemaphores(request => void main.receive(port, request));
      return { port, shared: own.semaphore("judge", 2), other: own.semaphore("other", 1) };
    }),
  };
}

test("threads together have as many permits as there are, first in, first out", async () => {
  const [one, two] = threads(2).threads as [Thread, Thread];
  const first = (await one.shared.acquire())!;
  const second = (await two.shared.acquire())!;
  const order: string[] = [];
  const wait = async ({ shared }: Thread, name: string) => {
    const leave = await shared.acquire();
    order.push(name);
    return leave;
  };
  const third = wait(two, "third");
  const fourth = wait(one, "fourth");
  assert.deepEqual([one.shared.queued, two.shared.queued], [1, 1]);
  assert.ok(await one.other.acquire(), "another name has permits of its own");
  second();
  (await third)!();
  (await fourth)!();
  first();
  assert.deepEqual(order, ["third", "fourth"]);
  assert.deepEqual([one.shared.queued, two.shared.queued], [0, 0]);
});

test("a waiter that gives up leaves its turn, or the permit just granted, to the next", async () => {
  const [one, two] = threads(2).threads as [Thread, Thread];
  const held = [(await one.shared.acquire())!, (await one.shared.acquire())!];
  const asker = new AbortController();
  const queued = two.shared.acquire({ signal: asker.signal });
  asker.abort();
  assert.equal(await queued, undefined);
  assert.equal(await two.shared.acquire({ signal: asker.signal }), undefined);
  const late = new AbortController();
  const given = two.shared.acquire({ signal: late.signal });
  const next = one.shared.acquire();
  late.abort();
  held[0]!();
  assert.equal(await given, undefined);
  (await next)!();
  held[1]!();
  for (const leave of [await one.shared.acquire(), await two.shared.acquire()]) assert.ok(leave);
});

test("the permits and waits of a thread that ended are released", async () => {
  const { main, threads: made } = threads(2);
  const [gone, left] = made as [Thread, Thread];
  await gone.shared.acquire();
  await gone.shared.acquire();
  void gone.shared.acquire();
  const first = left.shared.acquire();
  const second = left.shared.acquire();
  main.forget(gone.port);
  assert.ok((await first) && (await second));
  main.forget(left.port);
  assert.ok(await left.shared.acquire());
});

type Thread = ReturnType<typeof threads>["threads"][number];
