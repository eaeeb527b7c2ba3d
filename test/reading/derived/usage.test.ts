// What a trace used and costs by model: sums, lower bounds that are no cost, and the column that keeps it.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { PriceList } from "../../../src/model/price/price.ts";
import type { ModelCall } from "../../../src/model/trace/trace.ts";
import { costOfUsage, decodeUsage, encodeUsage, usageOf } from "../../../src/reading/derived/usage.ts";

const tokens = { input: 1_000, cached: 200, cacheWrite: 0, output: 100 };
const call = (fields: Partial<ModelCall> = {}): ModelCall => ({
  spanId: "a",
  provider: "openai",
  model: "gpt-4o",
  promptAbove: 0,
  calls: 1,
  tokens,
  ...fields,
});
const prices = new PriceList([]);
const costOf = (...calls: ModelCall[]) => costOfUsage(usageOf(calls), prices, "2026-11-20");
const callUsd = (800 * 2.5 + 200 * 1.25 + 100 * 10) / 1e6;

test("calls of a model are summed up, others apart", () => {
  const usage = usageOf([call(), call(), call({ model: "gpt-4o-mini" }), call({ provider: null })]);
  assert.deepEqual(
    usage.map(({ provider, model, calls, inputTokens }) => [provider, model, calls, inputTokens]),
    [
      ["openai", "gpt-4o", 2, 2_000],
      ["openai", "gpt-4o-mini", 1, 1_000],
      [null, "gpt-4o", 1, 1_000],
    ],
  );
});

test("a trace costs the sum of its calls, and nothing without any", () => {
  assert.deepEqual(costOf(call(), call()), { usd: callUsd * 2, knownUsd: callUsd * 2, unpriced: [] });
  assert.deepEqual(costOf(), { usd: null, knownUsd: null, unpriced: [] });
});

for (const [what, other, why, counted] of [
  ["without a price", call({ model: "house-7b" }), "no_price", 1_100],
  ["without a model", call({ model: null }), "no_model", 1_100],
  ["with a prompt that costs more", call({ model: "gpt-5.4", promptAbove: 272_000 }), "long_prompt", 1_100],
  ["without tokens", call({ tokens: null }), "no_tokens", 0],
] as const) {
  test(`a call ${what} makes the cost of its trace unknown, and the rest a lower bound`, () => {
    const { provider, model } = other;
    assert.deepEqual(costOf(call(), other), {
      usd: null,
      knownUsd: callUsd,
      unpriced: [{ provider, model, why, tokens: counted }],
    });
    assert.equal(costOf(other).knownUsd, null);
  });
}

test("a call without tokens to pay for needs no price", () => {
  const none = { input: 0, cached: 0, cacheWrite: 0, output: 0 };
  assert.equal(costOf(call(), call({ model: "house-7b", tokens: none })).usd, callUsd);
});

test("models beyond the fiftieth count as one that is not known, and no token is lost", () => {
  const usage = usageOf(Array.from({ length: 80 }, (_, at) => call({ model: `model-${at % 70}` })));
  assert.equal(usage.length, 51);
  assert.equal(usage.at(-1)!.model, null);
  assert.equal(
    usage.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    80_000,
  );
});

test("usage is read from its column as it was written", () => {
  const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
  const calls = fc.array(
    fc.record({
      spanId: fc.constant("a"),
      provider: fc.option(fc.string()),
      model: fc.option(fc.string()),
      promptAbove: fc.constantFrom(0, 100_000, 200_000, 272_000),
      calls: fc.constantFrom(0 as const, 1 as const),
      tokens: fc.option(fc.record({ input: count, cached: count, cacheWrite: count, output: count })),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(calls, given => {
      const usage = usageOf(given);
      assert.deepEqual(decodeUsage(encodeUsage(usage)), usage);
    }),
  );
  assert.deepEqual(decodeUsage(""), []);
});
