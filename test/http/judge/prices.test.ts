// Prices over the API: a project's own prices are next to the built-in ones, and are replaced as a whole.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { registerJudgePrices } from "../../../src/http/judge/prices.ts";
import { builtInPrices } from "../../../src/model/price/built-in.ts";
import { type Owner, startTestApp, type TestApp } from "../../support/app.ts";

let service: TestApp;
let owner: Owner;
let path: `/api/projects/${string}/judge/prices`;
before(async () => {
  service = await startTestApp({ extend: registerJudgePrices });
  owner = await service.signUp();
  path = `/api/projects/${owner.projectId}/judge/prices`;
});
after(() => service.close());

const price = {
  ...{ model: "house-7b", validFrom: "2026-01-01", inputUsd: 0.25, outputUsd: 1.5 },
  ...{ cachedUsd: null, cacheWriteUsd: null },
};

test("a project starts with the built-in prices and none of its own", async () => {
  assert.deepEqual(await owner.client.read(path), { own: [], builtIn: builtInPrices });
});

test("saving replaces all prices, and lists them by model, latest first", async () => {
  await owner.client.put(path, { prices: [{ ...price, model: "gone" }] }).expect(200);
  const later = { ...price, validFrom: "2026-06-01", inputUsd: 0.1 };
  const other = { ...price, model: "a-model", inputUsd: 0, outputUsd: 0 };
  const { body } = await owner.client.put(path, { prices: [price, other, later] }).expect(200);
  assert.deepEqual(body.own, [other, later, price]);
  assert.deepEqual(await owner.client.read(path), body);
  assert.deepEqual((await owner.client.put(path, { prices: [] }).expect(200)).body.own, []);
});

test("prices of cached tokens are optional, and kept", async () => {
  const { cachedUsd: _, cacheWriteUsd: __, ...plain } = price;
  const cached = { ...price, model: "cached", cachedUsd: 0.025, cacheWriteUsd: 0 };
  const { body } = await owner.client.put(path, { prices: [plain, cached] }).expect(200);
  assert.deepEqual(body.own, [cached, price]);
});

test("another project's prices are separate", async () => {
  await owner.client.put(path, { prices: [price] }).expect(200);
  const { body } = await owner.client.post("/api/projects", { name: "Other" }).expect(201);
  assert.deepEqual((await owner.client.read(`/api/projects/${body.id}/judge/prices`)).own, []);
});

for (const [what, wrong, field] of [
  ["a day that is none", { ...price, validFrom: "2026-02-30" }, "prices[1].validFrom"],
  ["a day of no calendar of ours", { ...price, validFrom: "0000-01-01" }, "prices[1].validFrom"],
  ["the same day twice", price, "prices[1].validFrom"],
  ["no name", { ...price, model: " " }, "prices[1].model"],
  ["less than nothing", { ...price, validFrom: "2026-02-01", inputUsd: -1 }, "prices[1].inputUsd"],
  [
    "less than nothing for cached tokens",
    { ...price, validFrom: "2026-02-01", cachedUsd: -1 },
    "prices[1].cachedUsd",
  ],
  ["no number", { ...price, validFrom: "2026-02-01", outputUsd: "1" }, "prices[1].outputUsd"],
] as const) {
  test(`a price of ${what} is refused at its row, and nothing is changed`, async () => {
    await owner.client.put(path, { prices: [price] }).expect(200);
    const { body } = await owner.client.put(path, { prices: [{ ...price, inputUsd: 9 }, wrong] }).expect(400);
    assert.deepEqual([body.code, body.issues![0]!.path], ["VALIDATION_ERROR", field]);
    assert.deepEqual((await owner.client.read(path)).own, [price]);
  });
}
