// What is offered for completion is what traces hold, bounded, and stays data whatever it says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { VocabularyBuilder } from "../../src/editor/vocabulary.ts";
import type { Span } from "../../src/model/trace/trace.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { root, span, tool, traceOf } from "../evaluate/makers.ts";

function vocabularyOf(...traces: Span[][]) {
  const builder = new VocabularyBuilder();
  for (const spans of traces) builder.add(traceOf(...spans), derive(traceOf(...spans)));
  return builder.build();
}

test("names come most frequent first, with their keys and the first distinct samples", () => {
  const step = (n: number) => span({ name: "step", attributes: { n, same: true, gone: null } });
  const { traces, complete, spans, tools } = vocabularyOf(
    [root(), step(1), step(2), tool("find", { id: 1 })],
    [root(), step(2), step(3), step(4), tool("find", '{"id":2,"deep":{"a":1}}')],
  );
  assert.deepEqual([traces, complete], [2, true]);
  assert.deepEqual(spans[0], {
    name: "step",
    count: 5,
    attributes: [
      { key: "n", samples: [1, 2, 3] },
      { key: "same", samples: [true] },
    ],
  });
  assert.deepEqual(tools, [
    {
      name: "find",
      count: 2,
      arguments: [
        { key: "id", samples: [1, 2] },
        { key: "deep", samples: [{ a: 1 }] },
      ],
    },
  ]);
});

test("samples are shortened, and what could stand in no assertion is left out", () => {
  const { spans } = vocabularyOf([
    root({ long: "x".repeat(1_000), list: Array(500).fill("y"), ["k".repeat(501)]: 1 }),
    span({ name: "z".repeat(501) }),
  ]);
  assert.equal(spans.length, 1);
  for (const { samples } of spans[0]!.attributes) assert.equal(String(samples[0]).length, 100);
  assert.deepEqual(
    spans[0]!.attributes.map(({ key }) => key),
    ["long", "list"],
  );
});

test("names that objects inherit, markup and half characters are names as any other", () => {
  const hostile = ["__proto__", "constructor", "<script>", "\ud800", "a\0b"];
  const attributes = JSON.parse('{"__proto__":{"polluted":true},"toString":"x"}');
  const { spans, tools } = vocabularyOf([
    root(),
    ...hostile.flatMap(name => [span({ name, attributes }), tool(name, attributes)]),
  ]);
  for (const name of hostile) {
    assert.ok(spans.some(entry => entry.name === name));
    assert.deepEqual(
      tools.find(entry => entry.name === name)?.arguments.map(({ key }) => key),
      ["__proto__", "toString"],
    );
  }
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});

test("the whole stays small however many names and keys there are, and says that it is not complete", () => {
  const many = Array.from({ length: 400 }, (_, at) =>
    span({
      name: `${at}${"n".repeat(300)}`,
      attributes: Object.fromEntries(
        Array.from({ length: 150 }, (_, key) => [`k${key}`, `${key}`.repeat(200)]),
      ),
    }),
  );
  const vocabulary = vocabularyOf(many);
  assert.equal(vocabulary.complete, false);
  assert.ok(JSON.stringify(vocabulary).length < 1_000_000);
  assert.ok(vocabulary.spans.length <= 200);
});
