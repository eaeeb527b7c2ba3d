// The compressed detail of a run: results, applicability of the tests, and the tests to continue with.
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { ReadBy } from "../../model/conventions/read-by.ts";
import type { Verdict } from "../../model/run/run.ts";
import type { TestCase } from "../../model/test-case/test-case.ts";

/**
 * `plan`: the tests of a run that has not completed, or that may be rerun. `conventions` and `conventionRules`: what a
 * completed run read its trace by, if anything; `conventions` is always there in a run that continues with them.
 */
export type Detail = Pick<Verdict, "results" | "tests" | "conventions" | "conventionRules"> & {
  plan?: TestCase[];
};

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
  return zstdCompressSync(JSON.stringify(detail));
}

/** Both lists are empty for a run without results. */
export function decodeDetail(bytes: Buffer | null): Detail {
  return bytes ? JSON.parse(zstdDecompressSync(bytes).toString()) : { results: [], tests: [] };
}
