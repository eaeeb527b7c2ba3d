// The compressed detail of a run: results, applicability of the tests, and the tests to continue with.

import { zstdDecompressSync } from "node:zlib";
import { parseNumbers } from "../../model/json-exact.ts";
import type { Result, Verdict } from "../../model/run/run.ts";
import type { TestCase, TestCaseDocument } from "../../model/test-case/document.ts";
import { decodeUsage, encodeUsage, type ModelUsage } from "../../reading/derived/usage.ts";
import { compressParts } from "../../wire/compress.ts";

/**
 * `plan`: the tests of a run that has not completed, or that may be rerun. `conventions` and `conventionRules`: what a
 * completed run read its trace by, if anything; `conventions` is always there in a run that continues with them.
 */
export type Detail = Pick<Verdict, "results" | "tests" | "conventions" | "conventionRules" | "readFrom"> & {
  plan?: TestCase[];
  /** Of passive runs that have completed. */
  counted?: StoredCounts;
};

/** What Insights count of a trace when a run of it completes, until a later run replaces it. */
export type TraceCounts = {
  durationMs: number | null;
  tokens: { input: number | null; output: number | null };
  usage: ModelUsage[];
};

/** `usage`: see encodeUsage. */
type StoredCounts = { durationMs: number | null; input: number | null; output: number | null; usage: string };

export function countsToStore({ durationMs, tokens, usage }: TraceCounts): StoredCounts {
  return { durationMs, input: tokens.input, output: tokens.output, usage: encodeUsage(usage) };
}

/** Null for a manual run, which counts nothing. */
export function countsOf({ counted }: Detail): TraceCounts | null {
  if (!counted) return null;
  const { durationMs, input, output, usage } = counted;
  return { durationMs, tokens: { input, output }, usage: decodeUsage(usage) };
}

/** The detail of a run that has completed. */
export function detailOf(
  { results, tests, conventions = [], conventionRules = [], readFrom }: Detail,
  plan?: TestCase[],
): Detail {
  return {
    results,
    tests,
    ...(plan ? { plan } : {}),
    ...(conventions.length > 0 ? { conventions } : {}),
    ...(conventionRules.length > 0 ? { conventionRules } : {}),
    ...(readFrom && { readFrom }),
  };
}

/**
 * Writes each result for itself: one character beyond Latin-1, such as an ellipsis, would make V8 write the whole JSON with
 * two bytes a character.
 */
export function encodeDetail({ results, ...others }: Detail): Buffer {
  const parts: (string | Buffer)[] = [];
  for (const result of results) addJson(result, parts.length === 0 ? '{"results":[' : ",", parts);
  if (parts.length === 0) parts.push('{"results":[');
  const rest = JSON.stringify(others);
  parts.push(rest === "{}" ? "]}" : `],${rest.slice(1)}`);
  return compressParts(parts);
}

function addJson(result: Result, before: string, parts: (string | Buffer)[]): void {
  const { test, testVersion, ...own } = result;
  const json = JSON.stringify(own).slice(0, -1);
  parts.push(`${before}${json},"test":`, jsonOf(test), `,"testVersion":${testVersion}}`);
}

// The results of many runs share the documents of their tests.
const documents = new WeakMap<TestCaseDocument, Buffer>();

function jsonOf(document: TestCaseDocument): Buffer {
  let json = documents.get(document);
  if (!json) {
    json = Buffer.from(JSON.stringify(document));
    documents.set(document, json);
  }
  return json;
}

/** Both lists are empty for a run without results. */
export function decodeDetail(bytes: Buffer | null): Detail {
  return bytes ? (parseNumbers(zstdDecompressSync(bytes).toString()) as Detail) : { results: [], tests: [] };
}
