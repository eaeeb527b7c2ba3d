// Tests that the checker of `npm run torture` tells a loss, a mixture or an old version from what may be stored.
import assert from "node:assert/strict";
import { test } from "node:test";
import { faultOf, faultOfAnswers } from "../../torture/checker.ts";
import type { Delivery, Identity } from "../../torture/ledger.ts";

/** A delivery of the spans with these ids, whose texts name it. Never acknowledged: null. */
function delivery(name: string, ids: string, startedMs: number, acknowledgedMs: number | null): Delivery {
  const spans = [...ids].map(spanId => ({ spanId, text: `${spanId} of ${name}` }));
  return { spans, startedMs, acknowledgedMs };
}

const stored = (...deliveries: Delivery[]) =>
  new Map(deliveries.flatMap(({ spans }) => spans.map(({ spanId, text }) => [spanId, text])));

const identity = (path: Identity["path"], ...deliveries: Delivery[]): Identity => ({
  ...{ externalId: "one", path, deliveries, created: 1, unknown: 0 },
});

const first = delivery("first", "ab", 0, 10);
const second = delivery("second", "cd", 20, 30);
const atOnce = delivery("at once", "ef", 5, 40);
const lost = delivery("lost", "gh", 50, null);

test("a canonical trace holds a version that may be the last one, as a whole", () => {
  const cases: [string, Delivery[], Map<string, string>, string | undefined][] = [
    ["the last version", [first, second], stored(second), undefined],
    ["an older version", [first, second], stored(first), "holds version 1 of 2"],
    ["either of two at once", [first, atOnce], stored(first), undefined],
    ["the other of two at once", [first, atOnce], stored(atOnce), undefined],
    ["one that was not acknowledged", [first, lost], stored(lost), undefined],
    ["the one before it", [first, lost], stored(first), undefined],
    ["two versions mixed", [first, atOnce], stored(first, atOnce), "holds version 1 of 2"],
    ["a part of a version", [first], new Map([["a", "a of first"]]), "holds what was never sent"],
    ["another text", [first], new Map([...stored(first), ["b", "b"]]), "holds what was never sent"],
  ];
  for (const [name, deliveries, texts, fault] of cases)
    assert.equal(faultOf(identity("canonical", ...deliveries), texts), fault, name);
});

test("an OTLP trace holds every acknowledged batch, and others as a whole or not at all", () => {
  const otlp = identity("otlp", first, second, lost);
  const cases: [string, Map<string, string>, string | undefined][] = [
    ["what was acknowledged", stored(first, second), undefined],
    ["everything", stored(first, second, lost), undefined],
    ["a batch less", stored(second), "holds 0 of the 2 spans of batch 1, acknowledged"],
    [
      "half of a batch",
      new Map([...stored(first, second), ["g", "g of lost"]]),
      "holds 1 of the 2 spans of batch 3, not acknowledged",
    ],
    ["another text", new Map([...stored(first, second), ["a", "b"]]), "holds another span a"],
    ["a span that was never sent", new Map([...stored(first, second), ["z", "z"]]), "holds another span z"],
  ];
  for (const [name, texts, fault] of cases) assert.equal(faultOf(otlp, texts), fault, name);
});

test("batches that overlap are their union, and one that was not acknowledged may be absent but for what others brought", () => {
  const overlapping = delivery("first", "bz", 15, null);
  const otlp = identity("otlp", first, overlapping);
  const cases: [string, Map<string, string>, string | undefined][] = [
    ["without it", stored(first), undefined],
    ["with it", stored(first, overlapping), undefined],
    [
      "without what the other brought",
      new Map(
        [["a", "a of first"], ...stored(overlapping)].filter(([id]) => id !== "b") as [string, string][],
      ),
      "holds 1 of the 2 spans of batch 1, acknowledged",
    ],
  ];
  for (const [name, texts, fault] of cases) assert.equal(faultOf(otlp, texts), fault, name);
  // Delivered twice, never acknowledged: one copy does not explain a part of the other.
  const again = identity("otlp", first, lost, { ...lost });
  const part = new Map([...stored(first), ["g", "g of lost"] as const]);
  assert.equal(faultOf(again, part), "holds 1 of the 2 spans of batch 2, not acknowledged");
});

test("one request makes a canonical trace, unless nobody knows what one did", () => {
  const answered = (path: Identity["path"], created: number, unknown: number) =>
    faultOfAnswers({ ...identity(path, first), created, unknown });
  assert.equal(answered("canonical", 1, 0), undefined);
  assert.equal(answered("canonical", 1, 3), undefined);
  assert.equal(answered("canonical", 0, 1), undefined);
  assert.equal(answered("canonical", 0, 0), "was answered 201 0 times");
  assert.equal(answered("canonical", 2, 3), "was answered 201 2 times");
  assert.equal(answered("otlp", 0, 0), undefined);
});
