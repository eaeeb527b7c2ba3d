// The places at a judge are given in order, never more than there are, and come back from whoever is gone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openPlaces } from "../../src/judging/shared-semaphore.ts";
import { Places, type Taker } from "../../src/service/judge-semaphore.ts";

/** Threads in one: what they tell arrives at once. */
function threads(count: number) {
  const places = new Places();
  return {
    places,
    threads: Array.from({ length: count }, () => {
      const taker: Taker = { postMessage: ({ id }) => own.entered(id) };
      const own = openPlaces(ask => places.ask(taker, ask));
      return { taker, slots: own.slotsOf("judge", 2), other: own.slotsOf("other", 1) };
    }),
  };
}

test("threads together have as many places as there are, in the order in which they asked", async () => {
  const [one, two] = threads(2).threads as [Thread, Thread];
  const first = (await one.slots.take(undefined))!;
  const second = (await two.slots.take(undefined))!;
  const order: string[] = [];
  const wait = async ({ slots }: Thread, name: string) => {
    const leave = await slots.take(undefined);
    order.push(name);
    return leave;
  };
  const third = wait(two, "third");
  const fourth = wait(one, "fourth");
  assert.deepEqual([one.slots.queued, two.slots.queued], [1, 1]);
  assert.ok(await one.other.take(undefined), "another judge has places of its own");
  second();
  (await third)!();
  (await fourth)!();
  first();
  assert.deepEqual(order, ["third", "fourth"]);
  assert.deepEqual([one.slots.queued, two.slots.queued], [0, 0]);
});

test("who gives up leaves the queue, or the place that was just given, to the next", async () => {
  const [one, two] = threads(2).threads as [Thread, Thread];
  const held = [(await one.slots.take(undefined))!, (await one.slots.take(undefined))!];
  const asker = new AbortController();
  const queued = two.slots.take(asker.signal);
  asker.abort();
  assert.equal(await queued, undefined);
  assert.equal(await two.slots.take(asker.signal), undefined);
  const late = new AbortController();
  const given = two.slots.take(late.signal);
  const next = one.slots.take(undefined);
  late.abort();
  held[0]!();
  assert.equal(await given, undefined);
  (await next)!();
  held[1]!();
  for (const leave of [await one.slots.take(undefined), await two.slots.take(undefined)]) assert.ok(leave);
});

test("what a thread held or waited for comes back when it is gone", async () => {
  const { places, threads: made } = threads(2);
  const [gone, left] = made as [Thread, Thread];
  await gone.slots.take(undefined);
  await gone.slots.take(undefined);
  void gone.slots.take(undefined);
  const first = left.slots.take(undefined);
  const second = left.slots.take(undefined);
  places.forget(gone.taker);
  assert.ok((await first) && (await second));
  places.forget(left.taker);
  assert.ok(await left.slots.take(undefined));
});

type Thread = ReturnType<typeof threads>["threads"][number];
