// Simultaneous lookups share a query, and none is answered from a query that began before it was asked.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { cachesExpired, gather } from "../../../src/store/ingestion/gather.ts";

/** A load whose rounds end when the test says so. */
function controlled(options?: Parameters<typeof gather>[1]) {
  const rounds: { keys: string[]; answer: (values: Record<string, number>) => void; fail: () => void }[] = [];
  const awaited: { count: number; resolve: () => void }[] = [];
  const find = gather<number>(keys => {
    return new Promise((resolve, reject) => {
      rounds.push({
        keys,
        answer: values => resolve(new Map(Object.entries(values))),
        fail: () => reject(new Error("down")),
      });
      for (const { count, resolve: tell } of awaited) if (rounds.length >= count) tell();
    });
  }, options);
  const begun = (count: number) =>
    new Promise<void>(resolve => {
      if (rounds.length >= count) resolve();
      else awaited.push({ count, resolve });
    });
  return { find, rounds, begun };
}

suite("batched lookups", () => {
  test("of one tick share a query, each key once, each with its own answer", async () => {
    const { find, rounds, begun } = controlled();
    const found = Promise.all([find("a"), find("b"), find("a"), find("unknown")]);
    await begun(1);
    assert.deepEqual(rounds[0]!.keys, ["a", "b", "unknown"]);
    rounds[0]!.answer({ a: 1, b: 2 });
    assert.deepEqual(await found, [1, 2, 1, undefined]);
    assert.equal(rounds.length, 1);
  });

  test("never join a query that began before them", async () => {
    const { find, rounds, begun } = controlled();
    const before = find("key");
    await begun(1);
    const after = find("key");
    await begun(2);
    rounds[0]!.answer({ key: 1 });
    rounds[1]!.answer({});
    assert.equal(await before, 1);
    assert.equal(await after, undefined);
  });

  test("wait for a free round when all are in use, and then share one", async () => {
    const { find, rounds, begun } = controlled({ roundsMax: 1 });
    const first = find("a");
    await begun(1);
    const rest = Promise.all([find("b"), find("c")]);
    rounds[0]!.answer({ a: 1 });
    assert.equal(await first, 1);
    await begun(2);
    assert.deepEqual(rounds[1]!.keys, ["b", "c"]);
    rounds[1]!.answer({ b: 2, c: 3 });
    assert.deepEqual(await rest, [2, 3]);
  });

  test("are limited per query, and none is left out", async () => {
    const asked: string[][] = [];
    const find = gather<string>(
      async keys => {
        asked.push(keys);
        return new Map(keys.map(key => [key, key]));
      },
      { keysMax: 10 },
    );
    const keys = Array.from({ length: 95 }, (_, at) => `${at}`);
    assert.deepEqual(await Promise.all(keys.map(key => find(key))), keys);
    assert.ok(asked.every(round => round.length <= 10));
  });

  test("all fail with the query they share, and the next ones do not", async () => {
    const { find, rounds, begun } = controlled();
    const failing = Promise.allSettled([find("a"), find("b")]);
    await begun(1);
    rounds[0]!.fail();
    assert.deepEqual(
      (await failing).map(({ status }) => status),
      ["rejected", "rejected"],
    );
    const next = find("a");
    await begun(2);
    rounds[1]!.answer({ a: 1 });
    assert.equal(await next, 1);
  });
});

suite("cached values", () => {
  /** Counts the queries; knows every key but those that begin with "no". */
  function counting(keep: (value: string) => boolean) {
    const asked: string[] = [];
    const find = gather<string>(
      async keys => {
        asked.push(...keys);
        return new Map(keys.filter(key => !key.startsWith("no")).map(key => [key, key]));
      },
      { keep },
    );
    return { find, asked };
  }

  test("answer repeated lookups without a query each", async () => {
    const { find, asked } = counting(() => true);
    for (let count = 0; count < 200; count++) assert.equal(await find("key"), "key");
    assert.ok(asked.length < 100, `${asked.length} queries`);
  });

  test("are queried again after cachesExpired, which a revocation waits for", async () => {
    const { find, asked } = counting(() => true);
    await find("key");
    await cachesExpired();
    await find("key");
    assert.deepEqual(asked, ["key", "key"]);
  });

  test("exclude values that must not be kept, and missing ones", async () => {
    const { find, asked } = counting(value => value !== "fresh");
    for (const key of ["fresh", "nowhere", "fresh", "nowhere"]) await find(key);
    assert.deepEqual(asked, ["fresh", "nowhere", "fresh", "nowhere"]);
  });
});
