// What a run keeps besides its columns: results, which tests applied, and the plan by which it may go on.
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Applicability, Result } from "../../model/run/run.ts";
import type { TestCase } from "../../model/test-case/test-case.ts";

/** `plan`: the tests by which a run goes on that has not completed, or is judged again. */
export type Detail = { results: Result[]; tests: Applicability[]; plan?: TestCase[] };

export function encodeDetail(detail: Detail): Buffer {
  return zstdCompressSync(JSON.stringify(detail));
}

/** A run's results and the applicability of its agent's tests; both empty for a run of which nothing is known. */
export function decodeDetail(bytes: Buffer | null): Detail {
  return bytes ? JSON.parse(zstdDecompressSync(bytes).toString()) : { results: [], tests: [] };
}
