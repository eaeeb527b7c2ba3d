// What is stored of results is the JSON of all of them, whatever is in them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import { evaluate } from "../../../src/evaluate/evaluate.ts";
import { noAnswers } from "../../../src/evaluate/questions.ts";
import type { Result } from "../../../src/model/run/run.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { decodeDetail, detailOf, encodeDetail } from "../../../src/store/runs/detail.ts";
import { root, testCase, traceOf } from "../../evaluate/makers.ts";

const pattern = { type: "response_regex", pattern: "order" };
const tests = [
  testCase({ name: "Zamówienie …", passiveBehavior: "always_run", assertions: [pattern] }),
  testCase({ name: '"Two"\n', passiveBehavior: "always_run", assertions: [pattern, pattern] }),
];

function resultsFor(text: string) {
  const trace = traceOf(root({ "gen_ai.response.text": text }));
  return evaluate({ trace, derived: derive(trace), tests, routing: null, answers: noAnswers() });
}

const textOf = (bytes: Buffer) => zstdDecompressSync(bytes).toString();

test("what is stored is the JSON of the detail, also of several runs of the same tests", () => {
  for (const text of ["The order ships.", `Your order … ${"żółć ".repeat(300)}`, "", "😀 order \ud800"]) {
    const detail = detailOf(resultsFor(text), tests);
    assert.equal(detail.results.length, 2);
    assert.equal(textOf(encodeDetail(detail)), JSON.stringify(detail));
  }
});

test("results of an unsaved test, and none at all, come back", () => {
  const [result] = resultsFor("The order ships.").results;
  const results: Result[] = [result!, { ...result!, testVersion: null }];
  for (const some of [results, []]) {
    const detail = { results: some, tests: [], conventions: [] };
    assert.deepEqual(decodeDetail(encodeDetail(detail)), detail);
  }
});

test("results larger than what is kept for them come back", () => {
  const results = Array.from({ length: 200 }, () => resultsFor(`order ${"ż".repeat(600)}`).results).flat();
  assert.deepEqual(decodeDetail(encodeDetail({ results, tests: [] })).results, results);
});
