// The compressed detail of a run: results, applicability of the tests, and the tests to continue with.
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Applicability, Result } from "../../model/run/run.ts";
import type { TestCase } from "../../model/test-case/test-case.ts";

/** `plan`: the tests of a run that has not completed, or that may be rerun. */
export type Detail = { results: Result[]; tests: Applicability[]; plan?: TestCase[] };

export function encodeDetail(detail: Detail): Buffer {
  return zstdCompressSync(JSON.stringify(detail));
}

/** Both lists are empty for a run without results. */
export function decodeDetail(bytes: Buffer | null): Detail {
  return bytes ? JSON.parse(zstdDecompressSync(bytes).toString()) : { results: [], tests: [] };
}
