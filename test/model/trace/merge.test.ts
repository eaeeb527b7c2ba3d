// Merging batches: spans with the same id, and an OTLP trace that does not depend on how its batches arrived.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { mergeBatches } from "../../../src/model/trace/merge.ts";
import { compareNanos } from "../../../src/model/trace/times.ts";
import type { Batch, Span } from "../../../src/model/trace/trace.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { arbitrarySpan, makeBatch, makeSpan } from "../make-trace.ts";

const idsOf = (spans: Span[]) => spans.map(span => span.span_id);
const timed = (id: string, start: string | null, end: string | null) =>
  makeSpan(id, { start_time_unix_nano: start, end_time_unix_nano: end });

suite("compareNanos", () => {
  const ascending = [
    "",
    "0",
    "9",
    "10",
    "99",
    "1795206705950000000",
    "9223372036854775808",
    "18446744073709551615",
  ];
  test("orders uint64 text as numbers, also beyond 2^53 and 2^63, with empty text first", () => {
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries())
        assert.equal(Math.sign(compareNanos(a, b)), Math.sign(i - j), `${a} ${b}`);
    }
  });
  test("ignores leading zeros", () => {
    assert.equal(compareNanos("007", "7"), 0);
    assert.ok(compareNanos("0009", "10") < 0);
  });
  test("agrees with BigInt on every uint64", () => {
    const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    fc.assert(
      fc.property(uint64, uint64, (a, b) => {
        assert.equal(Math.sign(compareNanos(String(a), String(b))), a < b ? -1 : a > b ? 1 : 0);
      }),
    );
  });
});

suite("mergeBatches", () => {
  test("keeps a canonical trace's spans in the order they were sent", () => {
    const batch = makeBatch([timed("c", "3", "4"), timed("a", "1", "9"), timed("b", null, null)]);
    assert.deepEqual(mergeBatches([batch], "canonical"), { ...batch, path: "canonical" });
  });

  test("orders an OTLP trace by start, end and id, spans without a time last", () => {
    const spans = [
      timed("no-times", null, null),
      timed("no-end", "10", null),
      timed("b", "10", "20"),
      timed("a", "10", "20"),
      timed("ends-first", "10", "11"),
      timed("first", "9", "90"),
      timed("no-start", null, "1"),
    ];
    const ordered = ["first", "ends-first", "a", "b", "no-end", "no-start", "no-times"];
    assert.deepEqual(idsOf(mergeBatches([makeBatch(spans)], "otlp").spans), ordered);
  });

  test("keeps the newer of two spans with one id, across batches and within one", () => {
    const [old, middle, newest] = ["old", "middle", "newest"].map(name => makeSpan("a", { name }));
    for (const path of ["canonical", "otlp"] as const) {
      assert.deepEqual(mergeBatches([makeBatch([old!]), makeBatch([middle!, newest!])], path).spans, [
        newest,
      ]);
      assert.deepEqual(mergeBatches([makeBatch([newest!]), makeBatch([old!])], path).spans, [old]);
    }
  });

  test("keeps the newest metadata, also if a later batch has none", () => {
    const batches = [
      makeBatch([], { metadata: { v: 1 } }),
      makeBatch([], { metadata: { v: 2 } }),
      makeBatch([]),
    ];
    assert.deepEqual(mergeBatches(batches, "otlp").metadata, { v: 2 });
    assert.equal(mergeBatches([makeBatch([])], "otlp").metadata, null);
  });

  test("makes a trace without spans from no batch or a batch without spans", () => {
    assert.deepEqual(mergeBatches([], "otlp"), { path: "otlp", spans: [], resource: null, metadata: null });
    assert.deepEqual(mergeBatches([makeBatch([])], "otlp").spans, []);
  });

  test("treats span ids such as __proto__ like any other id", () => {
    const spans = ["__proto__", "constructor", "toString"].map(id => makeSpan(id));
    assert.equal(mergeBatches([makeBatch(spans), makeBatch(spans)], "otlp").spans.length, 3);
  });

  test("moves a resource that all batches share from the spans to the trace", () => {
    const batches = ["a", "b"].map(id => makeBatch([makeSpan(id)], { resource: { "service.name": "shop" } }));
    const merged = mergeBatches(batches, "otlp");
    assert.deepEqual(merged.resource, { "service.name": "shop" });
    assert.ok(merged.spans.every(span => !("resource" in span)));
  });

  test("gives the trace the first span's resource, and keeps other resources on their spans", () => {
    const [pod1, pod2] = [{ pod: "1" }, { pod: "2" }];
    const [early, late] = [timed("z", "1", "2"), timed("a", "3", "4")];
    const split = [makeBatch([late], { resource: pod2 }), makeBatch([early], { resource: pod1 })];
    const together = [
      makeBatch(
        [
          { ...late, resource: pod2 },
          { ...early, resource: pod1 },
        ],
        { resource: pod2 },
      ),
    ];
    const onlyTheOtherMarked = [makeBatch([late, { ...early, resource: pod1 }], { resource: pod2 })];
    for (const batches of [split, split.toReversed(), together, onlyTheOtherMarked]) {
      const merged = mergeBatches(batches, "otlp");
      assert.deepEqual(merged.resource, pod1);
      assert.deepEqual(merged.spans, [early, { ...late, resource: pod2 }]);
    }
  });

  test("takes resources with the same attributes in another order for the same, as in one request", () => {
    const spans = [timed("a", "1", "2"), timed("b", "3", "4")];
    const [one, other] = [
      { pod: "1", tags: { x: 1, y: 2 } },
      { tags: { y: 2, x: 1 }, pod: "1" },
    ];
    const merged = mergeBatches(
      spans.map((span, at) => makeBatch([span], { resource: at === 0 ? one : other })),
      "otlp",
    );
    assert.deepEqual(merged.resource, one);
    assert.deepEqual(merged.spans, spans);
  });

  test("does not give another batch's resource to a span without one", () => {
    const merged = mergeBatches(
      [makeBatch([timed("a", "1", "2")], { resource: { pod: "1" } }), makeBatch([timed("b", "3", "4")])],
      "otlp",
    );
    assert.deepEqual(merged.spans[1]?.resource, {});
  });

  test("does not change the batches", () => {
    const batches = [
      makeBatch([{ ...timed("a", "5", "6"), resource: { pod: "1" } }, timed("b", "1", "2")], {
        resource: { pod: "2" },
      }),
      makeBatch([timed("c", "0", "1")], { resource: { pod: "1" } }),
    ];
    const before = structuredClone(batches);
    mergeBatches(batches, "otlp");
    assert.deepEqual(batches, before);
  });

  test("does not depend on how often and in which order OTLP batches arrived", () => {
    const resource = fc.constantFrom(null, { pod: "1" }, { pod: "2" });
    const distinct = fc.uniqueArray(fc.tuple(arbitrarySpan, resource), {
      selector: ([span]) => span.span_id,
    });
    // The same spans, dealt into batches twice, each time at random and with repetition.
    const deal = (entries: [Span, Batch["resource"]][], picks: number[]) => {
      const repeated = entries.concat(picks.map(pick => entries[pick % entries.length]!));
      const shuffled = repeated
        .map((entry, at) => ({ entry, order: (picks[at % picks.length]! * (at + 7)) % 101 }))
        .sort((a, b) => a.order - b.order);
      return shuffled.map(({ entry: [span, own] }) => makeBatch([span], { resource: own }));
    };
    const picks = fc.array(fc.nat(1000), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(distinct, picks, picks, (entries, first, second) => {
        fc.pre(entries.length > 0);
        const [a, b] = [
          mergeBatches(deal(entries, first), "otlp"),
          mergeBatches(deal(entries, second), "otlp"),
        ];
        assert.deepEqual(a, b);
        assert.deepEqual(derive(a), derive(b));
        assert.equal(a.spans.length, entries.length);
      }),
      { numRuns: 300 },
    );
  });
});
