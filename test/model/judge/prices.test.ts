// What a model costs: by date, by snapshot, and by a project's own prices; unknown models have no price.
import assert from "node:assert/strict";
import { test } from "node:test";
import { builtInPrices, costOf, priceOf } from "../../../src/model/judge/prices.ts";

const haiku = { provider: "anthropic", model: "claude-haiku-4-5" } as const;

test("a price is valid from its date until the next one of the same model", () => {
  const flash = { provider: "google", model: "gemini-3.8-flash" } as const;
  assert.equal(priceOf([], flash, "2026-10-06"), undefined);
  assert.equal(priceOf([], flash, "2026-12-31")?.inputUsd, 0.75);
  assert.equal(priceOf([], flash, "2027-01-01")?.inputUsd, 1.5);
});

test("a dated snapshot costs the same as its model, and a sibling model does not", () => {
  const price = priceOf([], haiku, "2026-11-01");
  for (const model of ["claude-haiku-4-5-20251001", "claude-haiku-4-5-latest"]) {
    assert.deepEqual(priceOf([], { ...haiku, model }, "2026-11-01"), price);
  }
  assert.equal(priceOf([], { provider: "openai", model: "gpt-5.4-pro" }, "2026-11-01"), undefined);
  assert.equal(priceOf([], { provider: "openai", model: "gpt-5.4-mini" }, "2026-11-01")?.inputUsd, 0.75);
});

test("a project's own price comes first, from its date on and for every provider", () => {
  const own = [{ model: haiku.model, validFrom: "2026-11-01", inputUsd: 0, outputUsd: 7 }];
  assert.equal(priceOf(own, haiku, "2026-10-31")?.outputUsd, 5);
  assert.equal(priceOf(own, haiku, "2026-11-01")?.outputUsd, 7);
  const elsewhere = { provider: "openai_compatible", model: haiku.model } as const;
  assert.equal(priceOf(own, elsewhere, "2026-11-01")?.outputUsd, 7);
  assert.equal(priceOf([], elsewhere, "2026-11-01"), undefined);
});

test("a cost is tokens times their price per million", () => {
  const tokens = { inputTokens: 2_000, outputTokens: 100 };
  assert.equal(costOf({ inputUsd: 1, outputUsd: 5 }, tokens), 0.0025);
});

test("every built-in price has a date and is not zero", () => {
  for (const { model, validFrom, inputUsd, outputUsd } of builtInPrices) {
    assert.match(validFrom, /^20\d\d-\d\d-\d\d$/, model);
    assert.ok(inputUsd > 0 && outputUsd >= inputUsd, model);
  }
});
