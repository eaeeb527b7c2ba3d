// What a model costs: by date, by snapshot, and by a project's own prices; unknown models have no price.

import assert from "node:assert/strict";
import { test } from "node:test";
import { builtInPrices } from "../../../src/model/price/built-in.ts";
import { costOf, PriceList, priceOf } from "../../../src/model/price/price.ts";
import type { OwnPrice } from "../../../src/model/price/rates.ts";

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

test("cached tokens cost their own price, as part of the input, or that of input where they have none", () => {
  const tokens = {
    inputTokens: 1_000_000,
    cachedTokens: 600_000,
    cacheWriteTokens: 100_000,
    outputTokens: 0,
  };
  assert.equal(costOf({ inputUsd: 1, outputUsd: 5 }, tokens), 1);
  const price = { inputUsd: 1, outputUsd: 5, cachedUsd: 0.1, cacheWriteUsd: 1.25 };
  assert.equal(costOf(price, tokens), (300_000 + 60_000 + 125_000) / 1_000_000);
});

const day = "2026-11-20";

for (const [provider, model, inputUsd] of [
  ["openai", "gpt-4o-2024-08-06", 2.5],
  ["openai", "gpt-4o-2024-05-13", 5],
  ["OpenAI", "GPT-4o", 2.5],
  ["openai.chat", "gpt-4.1-mini-2025-04-14", 0.4],
  ["az.ai.openai", "gpt-4o", 2.5],
  ["azure.ai.openai", "gpt-4o-mini", 0.15],
  [null, "openai/gpt-4o", 2.5],
  [null, "azure/gpt-4o", 2.5],
  // Frameworks name themselves.
  ["langchain", "gpt-4o", 2.5],
  ["gcp.gemini", "models/gemini-2.5-flash", 0.3],
  ["gcp.vertex_ai", "publishers/google/models/gemini-2.0-flash-001", 0.1],
  ["google.vertex.chat", "gemini-2.5-pro", 1.25],
  ["gcp.vertex_ai", "claude-sonnet-4@20250514", 3],
  ["aws.bedrock", "us.anthropic.claude-sonnet-4-20250514-v1:0", 3],
  ["aws.bedrock", "anthropic.claude-3-5-sonnet-20241022-v2:0", 3],
  [
    "aws.bedrock",
    "arn:aws:bedrock:us-east-1:123456789012:inference-profile/global.anthropic.claude-haiku-4-5-20251001-v1:0",
    1,
  ],
  ["anthropic", "claude-opus-4-1-20250805", 15],
  [null, "anthropic/claude-sonnet-4.5", 3],
] as const) {
  test(`${provider}: ${model} has the price of its model`, () => {
    assert.equal(priceOf([], { provider, model }, day)?.inputUsd, inputUsd);
  });
}

for (const [provider, model] of [
  ["openai", "gpt-4o-audio-preview"],
  ["openai", "ft:gpt-4o-2024-08-06:house::1"],
  ["openai", "gpt-4"],
  ["azure.ai.openai", "our-deployment"],
  ["groq", "gpt-4o"],
  [null, "openrouter/openai/gpt-4o"],
  ["openrouter", "openai/gpt-4o"],
  ["ollama", "llama3.2"],
  ["anthropic", "gpt-4o"],
  ["", ""],
  ["__proto__", "constructor"],
] as const) {
  test(`${provider}: ${model} has no price`, () => {
    assert.equal(priceOf([], { provider, model }, day), undefined);
  });
}

test("a prompt longer than a price applies to has none, unless the project has its own", () => {
  const long = { provider: "openai", model: "gpt-5.4", promptAbove: 272_000 };
  assert.equal(priceOf([], long, day), undefined);
  assert.equal(priceOf([], { ...long, promptAbove: 200_000 }, day)?.inputUsd, 2.5);
  const own = [{ model: "gpt-5.4", validFrom: "2026-01-01", inputUsd: 5, outputUsd: 22.5 }];
  assert.equal(priceOf(own, long, day)?.inputUsd, 5);
});

test("a project's own price is found by the name that traces send, and by the model's own", () => {
  const own: OwnPrice[] = [
    { model: "azure/our-deployment", validFrom: "2026-01-01", inputUsd: 1, outputUsd: 2 },
    { model: "house-7b", validFrom: "2026-01-01", inputUsd: 3, outputUsd: 4 },
  ];
  const inputOf = (model: string) => priceOf(own, { provider: "vllm", model }, day)?.inputUsd;
  assert.equal(inputOf("azure/our-deployment"), 1);
  assert.equal(inputOf("our-deployment"), undefined);
  assert.equal(inputOf("models/House-7B"), 3);
  assert.equal(inputOf("house-7b-2026-01-31"), 3);
});

test("a list of prices answers as a single look-up does, also the second time", () => {
  const own = [{ model: "gpt-4o", validFrom: "2026-11-10", inputUsd: 9, outputUsd: 9 }];
  const prices = new PriceList(own);
  for (const on of ["2026-11-09", "2026-11-10", "2026-11-09", "2026-11-10"]) {
    for (const model of ["gpt-4o", "none"]) {
      const called = { provider: "openai", model };
      assert.deepEqual(prices.of(called, on), priceOf(own, called, on));
    }
  }
});

test("every built-in price has a date and is not zero", () => {
  for (const { model, validFrom, inputUsd, outputUsd, cachedUsd, cacheWriteUsd } of builtInPrices) {
    assert.ok(cachedUsd === null || (cachedUsd! > 0 && cachedUsd! < inputUsd), model);
    assert.ok(cacheWriteUsd === null || cacheWriteUsd! > inputUsd, model);
    assert.match(validFrom, /^20\d\d-\d\d-\d\d$/, model);
    assert.ok(inputUsd > 0 && outputUsd >= inputUsd, model);
  }
});
