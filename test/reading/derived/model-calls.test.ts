// Calls of models in a trace: tokens once, of the spans that call, with the model that they name.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attributes, Span } from "../../../src/model/trace/trace.ts";
import { readByConventions } from "../../../src/reading/conventions/conventions.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { makeSpan, makeTrace } from "../../model/make-trace.ts";

const root = (attributes: Attributes = {}, fields: Partial<Span> = {}) =>
  makeSpan("root", { attributes, ...fields });
const child = (id: string, attributes: Attributes, parent = "root", fields: Partial<Span> = {}) =>
  makeSpan(id, { parent_span_id: parent, attributes, ...fields });
const usage = (input: number | string, output: number, more: Attributes = {}): Attributes => ({
  "gen_ai.usage.input_tokens": input,
  "gen_ai.usage.output_tokens": output,
  ...more,
});
const model = (name: string, more: Attributes = {}): Attributes => ({
  "gen_ai.provider.name": "openai",
  "gen_ai.request.model": name,
  ...more,
});

/** Span, model, input and output of each call. */
function callsIn(spans: Span[], conventions: string[] = []) {
  const trace = makeTrace(spans);
  const { modelCalls } = derive(trace, undefined, readByConventions(spans, conventions));
  return modelCalls.map(({ spanId, model, tokens }) => [
    spanId,
    model,
    tokens?.input ?? null,
    tokens?.output ?? null,
  ]);
}

for (const [what, spans, expected] of [
  ["no call", [root()], []],
  ["a root that calls", [root(model("m", usage(10, 5)))], [["root", "m", 10, 5]]],
  [
    "an agent that repeats its calls",
    [
      root(),
      child("agent", usage(30, 12)),
      child("a", model("m", usage(10, 5)), "agent"),
      child("b", model("n", usage("20", 7)), "agent"),
    ],
    [
      ["a", "m", 10, 5],
      ["b", "n", 20, 7],
    ],
  ],
  [
    "an agent whose calls say nothing",
    [root({ "gen_ai.operation.name": "invoke_agent", ...model("m", usage(30, 12)) }), child("a", model("m"))],
    [["root", "m", 30, 12]],
  ],
  [
    "a root that counts what its calls do not",
    [root(usage(100, 50)), child("a", model("m", usage(60, 50)))],
    [
      ["a", "m", 60, 50],
      ["root", "m", 40, 0],
    ],
  ],
  [
    "a root that counts beyond calls of two models",
    [root(usage(100, 50)), child("a", model("m", usage(60, 20))), child("b", model("n", usage(30, 30)))],
    [
      ["a", "m", 60, 20],
      ["b", "n", 30, 30],
      ["root", null, 10, 0],
    ],
  ],
  [
    "the model that answered",
    [root(model("m", { "gen_ai.response.model": "m-2", ...usage(1, 1) }))],
    [["root", "m-2", 1, 1]],
  ],
  [
    "a call without tokens beside one with",
    [root(), child("a", model("m", usage(10, 5))), child("b", model("m"))],
    [
      ["a", "m", 10, 5],
      ["b", "m", null, null],
    ],
  ],
  [
    "a failed call, an embedding and a tool without tokens",
    [
      root(),
      child("a", model("m"), "root", { status: { code: 2 } }),
      child("b", model("m", { "gen_ai.operation.name": "embeddings" })),
      child("c", model("m", { "gen_ai.tool.name": "t" })),
    ],
    [],
  ],
] as [string, Span[], unknown[]][]) {
  test(`calls of models: ${what}`, () => assert.deepEqual(callsIn(spans), expected));
}

test("cached tokens are part of the input, also where they are sent beside it", () => {
  const tokensOf = (attributes: Attributes) => derive(makeTrace([root(attributes)])).modelCalls[0]!.tokens;
  const cached = { "gen_ai.usage.cache_read.input_tokens": 60 };
  assert.deepEqual(tokensOf(usage(100, 5, cached)), { input: 100, cached: 60, cacheWrite: 0, output: 5 });
  const beside = { ...cached, "gen_ai.usage.cache_creation.input_tokens": "30" };
  assert.deepEqual(tokensOf(usage(10, 5, beside)), { input: 100, cached: 60, cacheWrite: 30, output: 5 });
});

test("a prompt is above the largest bound that it exceeds", () => {
  const aboveOf = (input: number) => derive(makeTrace([root(usage(input, 1))])).modelCalls[0]!.promptAbove;
  assert.deepEqual([0, 100_000, 100_001, 272_000, 272_001].map(aboveOf), [0, 0, 100_000, 200_000, 272_000]);
});

test("conventions add cached tokens to the input where the total says that they are beside it", () => {
  const tokensOf = (total: number) => {
    const spans = [
      root({
        "openinference.span.kind": "LLM",
        "llm.token_count.prompt": 100,
        "llm.token_count.completion": 10,
        "llm.token_count.prompt_details.cache_read": 40,
        "llm.token_count.total": total,
      }),
    ];
    return derive(makeTrace(spans), undefined, readByConventions(spans, ["*"])).tokens;
  };
  assert.deepEqual(tokensOf(110), { input: 100, output: 10, reasoning: null, cached: 40, total: 110 });
  assert.deepEqual(tokensOf(150), { input: 140, output: 10, reasoning: null, cached: 40, total: 150 });
});

test("with conventions, a call that its agent counts has tokens, and one that nobody counts has none", () => {
  const llm = { "openinference.span.kind": "LLM", "llm.model_name": "m" };
  const counted = { ...llm, "llm.token_count.prompt": 7, "llm.token_count.completion": 3 };
  const chain = root({ "openinference.span.kind": "CHAIN" });
  assert.deepEqual(callsIn([chain, child("a", counted), child("b", llm)], ["*"]), [
    ["a", "m", 7, 3],
    ["b", "m", null, null],
  ]);
});
