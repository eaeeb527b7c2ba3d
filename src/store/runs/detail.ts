// The compressed detail of a run: results, applicability of the tests, and the tests to continue with.
import { zstdDecompressSync } from "node:zlib";
import type { ReadBy } from "../../model/conventions/read-by.ts";
import { decodeUsage, encodeUsage, type ModelUsage } from "../../model/price/usage.ts";
import type { Verdict } from "../../model/run/run.ts";
import type { TestCase } from "../../model/test-case/test-case.ts";
import { compressText } from "../../wire/compress.ts";

/**
 * `plan`: the tests of a run that has not completed, or that may be rerun. `conventions` and `conventionRules`: what a
 * completed run read its trace by, if anything; `conventions` is always there in a run that continues with them.
 */
export type Detail = Pick<Verdict, "results" | "tests" | "conventions" | "conventionRules"> & {
  plan?: TestCase[];
  /** Absent in passive runs that completed before it was kept. */
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

/** Null: not known. */
export function countsOf({ counted }: Detail): TraceCounts | null {
  if (!counted) return null;
  const { durationMs, input, output, usage } = counted;
  return { durationMs, tokens: { input, output }, usage: decodeUsage(usage) ?? [] };
}

/** The detail of a run that has completed. */
export function detailOf(
  { results, tests, conventions = [], conventionRules = [] }: Detail,
  plan?: TestCase[],
): Detail {
  return {
    results,
    tests,
    ...(plan ? { plan } : {}),
    ...(conventions.length > 0 ? { conventions } : {}),
    ...(conventionRules.length > 0 ? { conventionRules } : {}),
  };
}

/** What a run read its trace by. */
export function readByOf({ conventions = [], conventionRules = [] }: Detail): ReadBy {
  return { conventions, conventionRules };
}

export function encodeDetail(detail: Detail): Buffer {
  return compressText(JSON.stringify(detail)).bytes;
}

/** Both lists are empty for a run without results. */
export function decodeDetail(bytes: Buffer | null): Detail {
  return bytes ? JSON.parse(zstdDecompressSync(bytes).toString()) : { results: [], tests: [] };
}
