// The span tree: which span is the root, which are orphans, and that cycles are cut.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { buildTree, childrenOf, depthsOf, type SpanTree } from "../../../src/model/trace/span-tree.ts";
import { makeSpan } from "../make-trace.ts";

/** Spans written as `id<parent@start`. */
const tree = (...specs: string[]) =>
  buildTree(
    specs.map(spec => {
      const [, id = "", parent = null, start = null] = /^(\w+)(?:<(\w+))?(?:@(\d+))?$/.exec(spec) ?? [];
      return makeSpan(id, { parent_span_id: parent ?? null, start_time_unix_nano: start ?? null });
    }),
  );
const rootOf = (built: SpanTree) => built.spans[built.root]?.span_id;

suite("the root", () => {
  const cases: [string, string[], string | undefined][] = [
    ["is the parentless span", ["b<a@1", "a@2"], "a"],
    ["is the parentless span that starts first", ["late@20", "early@3", "none"], "early"],
    ["compares start times as numbers", ["a@10", "b@9"], "b"],
    ["is the first sent of parentless spans that start together", ["a@5", "b@5"], "a"],
    ["is a parentless span even where an orphan starts earlier", ["x<gone@1", "a@9"], "a"],
    ["is else the earliest span whose parent is not in the trace", ["b<a@5", "a<gone@4", "c<lost@3"], "c"],
    ["is an orphan rather than a span of a cycle", ["a<b@1", "b<a@2", "c<gone@3"], "c"],
    ["is else the first span", ["a<b@9", "b<a@1"], "a"],
    ["is the first span also where that hangs from a cycle", ["a<b", "b<c", "c<b"], "a"],
    ["is the only span, its own parent", ["a<a"], "a"],
    ["is none in a trace without spans", [], undefined],
  ];
  for (const [name, specs, root] of cases) test(name, () => assert.equal(rootOf(tree(...specs)), root));

  test("an empty parent id counts as none", () => {
    const built = buildTree([makeSpan("a", { parent_span_id: "" })]);
    assert.deepEqual([built.root, built.notices], [0, []]);
  });
});

suite("orphans and notices", () => {
  const cases: [string, string[], string[], string[]][] = [
    ["a whole tree has neither", ["a", "b<a", "c<b"], [], []],
    ["a parent that is not in the trace", ["a", "b<gone"], ["b"], ["orphan_spans"]],
    ["only remote parents", ["a<gone", "b<a"], ["a"], ["orphan_spans", "no_root"]],
    ["a self-parent", ["a", "b<b"], ["b"], ["orphan_spans"]],
    [
      "a cycle beside a root, in the order of the spans",
      ["c<b", "a", "b<c", "d<b", "e<gone"],
      ["c", "b", "e"],
      ["orphan_spans"],
    ],
    ["nothing but a cycle", ["a<b", "b<a"], ["a", "b"], ["orphan_spans", "no_root"]],
  ];
  for (const [name, specs, orphanIds, notices] of cases) {
    test(name, () => {
      const built = tree(...specs);
      assert.deepEqual([built.orphanIds, built.notices], [orphanIds, notices]);
    });
  }
});

suite("children and depths", () => {
  test("children are in the order of the spans, and depths count from the root", () => {
    const built = tree("c<a", "a", "d<c", "b<a", "e<gone", "f<e");
    assert.deepEqual(childrenOf(built), [[2], [0, 3], undefined, undefined, [5], undefined]);
    assert.deepEqual(depthsOf(built), [1, 0, 2, 1, Infinity, Infinity]);
  });
  test("a trace without spans has neither", () => {
    assert.deepEqual([childrenOf(tree()), depthsOf(tree())], [[], []]);
  });
  test("a span named __proto__ is a parent like any other", () => {
    const built = buildTree([makeSpan("__proto__"), makeSpan("a", { parent_span_id: "__proto__" })]);
    assert.deepEqual([built.parents, built.notices], [[-1, 0], []]);
  });
});

suite("size", () => {
  const chain = (length: number, closed: boolean) =>
    Array.from({ length }, (_, i) =>
      makeSpan(`s${i}`, { parent_span_id: i > 0 ? `s${i - 1}` : closed ? `s${length - 1}` : null }),
    );
  test("a chain of 100,000 spans is measured to its end, children first or last", () => {
    const spans = chain(100_000, false);
    assert.equal(depthsOf(buildTree(spans)).at(-1), 99_999);
    assert.equal(depthsOf(buildTree(spans.toReversed()))[0], 99_999);
  });
  test("a cycle of 100,000 spans is cut", () => {
    const built = buildTree(chain(100_000, true));
    assert.equal(built.orphanIds.length, 100_000);
    assert.ok(built.parents.every(parent => parent === -1));
  });
  test("100,000 siblings are children of one span", () => {
    const spans = [
      makeSpan("a"),
      ...Array.from({ length: 100_000 }, (_, i) => makeSpan(`s${i}`, { parent_span_id: "a" })),
    ];
    assert.equal(childrenOf(buildTree(spans))[0]?.length, 100_000);
  });
});

suite("any graph of spans", () => {
  const graph = fc
    .array(fc.option(fc.nat(12)), { maxLength: 12 })
    .map(parents =>
      parents.map((parent, i) =>
        makeSpan(`s${i}`, { parent_span_id: parent === null ? null : `s${parent}` }),
      ),
    );
  test("has one root, and walking up from any span ends at a root, an orphan or a cut cycle", () => {
    fc.assert(
      fc.property(graph, spans => {
        const built = buildTree(spans);
        assert.equal(built.root === -1, spans.length === 0);
        for (let at = 0; at < spans.length; at++) {
          let top = at;
          for (let steps = 0; built.parents[top] !== -1; steps++) {
            assert.ok(steps < spans.length, "the walk does not end");
            top = built.parents[top]!;
          }
          const span = spans[top]!;
          assert.ok(span.parent_span_id === null || built.orphanIds.includes(span.span_id));
        }
      }),
      { numRuns: 10_000 },
    );
  });
  test("has as orphans exactly the spans that lost their parent or are their own ancestor", () => {
    fc.assert(
      fc.property(graph, spans => {
        const parentOf = new Map(spans.map(span => [span.span_id, span.parent_span_id]));
        const expected = spans.filter(({ span_id, parent_span_id }) => {
          if (parent_span_id === null) return false;
          if (!parentOf.has(parent_span_id)) return true;
          let at: string | null | undefined = parent_span_id;
          for (let steps = 0; at && at !== span_id && steps <= spans.length; steps++) at = parentOf.get(at);
          return at === span_id;
        });
        assert.deepEqual(
          buildTree(spans).orphanIds,
          expected.map(span => span.span_id),
        );
      }),
      { numRuns: 2_000 },
    );
  });
});
