// Long computations of a thread run in slices, and owners take turns at them.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { FairQueue } from "../../src/threads/fair-queue.ts";
import { inTurns } from "../../src/threads/turns.ts";

/** `count` steps of 4 ms each. */
function* busy(count: number): Generator<void, string> {
  for (let step = 0; step < count; step++) {
    const until = performance.now() + 4;
    while (performance.now() < until);
    yield;
  }
  return "done";
}

suite("turns", () => {
  for (const [whose, accountOf, agentOf] of [
    ["an agent of the same account", () => "account", () => "one"],
    ["agents of another account", () => "other", (at: number) => `agent ${at}`],
  ] as const) {
    test(`a short computation ends while twenty long ones of ${whose} are under way`, async () => {
      const ended: string[] = [];
      const long = Array.from({ length: 20 }, (_, at) =>
        inTurns([accountOf(), agentOf(at)], busy(at === 0 ? 40 : 8)).then(() => ended.push("long")),
      );
      await inTurns(["account", "short"], busy(8)).then(() => ended.push("short"));
      assert.deepEqual(ended, ["short"]);
      await Promise.all(long);
      assert.equal(ended.length, 21);
    });
  }

  test("computations of one agent end one after the other", async () => {
    const ended: number[] = [];
    const each = [0, 1, 2].map(at =>
      inTurns(["account", "agent"], busy(6 + at)).then(() => {
        ended.push(at);
        return [...ended];
      }),
    );
    assert.deepEqual(await Promise.all(each), [[0], [0, 1], [0, 1, 2]]);
  });

  test("many short computations that begin together share a slice, and timers are served meanwhile", async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const each = Array.from({ length: 30 }, (_, at) => inTurns(["account", `agent ${at}`], busy(1)));
    await Promise.all(each);
    clearInterval(timer);
    assert.ok(ticks >= 3, String(ticks));
  });

  test("timers are served between slices", async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    await inTurns(["account", "agent"], busy(25));
    clearInterval(timer);
    assert.ok(ticks >= 3, String(ticks));
  });

  test("what ends within a slice does not wait", async () => {
    // The test before may have used up this round of the event loop.
    await new Promise(resolve => setImmediate(resolve));
    let isLater = false;
    setImmediate(() => {
      isLater = true;
    });
    assert.equal(await inTurns(["account", "agent"], busy(0)), "done");
    assert.equal(isLater, false);
  });
});

suite("fair queue", () => {
  test("accounts take turns, and so do the agents of each, in their own order", () => {
    const queue = new FairQueue<string>();
    queue.add(["many", "a"], ["a1", "a2", "a3"]);
    queue.add(["many", "b"], ["b1"]);
    queue.add(["many", "c"], ["c1"]);
    queue.add(["one", "d"], ["d1", "d2", "d3"]);
    const order: string[] = [];
    while (!queue.isEmpty) order.push(queue.turn(items => items.shift()!)!);
    assert.deepEqual(order, ["a1", "d1", "b1", "d2", "c1", "d3", "a2", "a3"]);
    assert.equal(
      queue.turn(() => "nothing"),
      undefined,
    );
  });

  test("items can be put back in front, and removed", () => {
    const queue = new FairQueue<number>();
    const a = ["account", "a"] as const;
    queue.add(a, [3, 4, 5]);
    queue.add(a, [1, 2], true);
    assert.deepEqual(
      queue.remove(a, item => item % 2 === 0),
      [2, 4],
    );
    assert.deepEqual(
      queue.remove(["account", "b"], () => true),
      [],
    );
    assert.deepEqual(
      queue.remove(["other", "a"], () => true),
      [],
    );
    assert.deepEqual(queue.clear(), [1, 3, 5]);
    assert.equal(queue.isEmpty, true);
  });
});
