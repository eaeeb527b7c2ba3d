// Encodes and reads what was redacted in a batch: JSON compressed by zstd, stored beside the batch.

import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Redaction } from "../model/redaction.ts";

/** Further values are counted, but not where they are, beyond the first of each rule: a body may have millions. */
const placesMax = 20_000;

/** `revision`: that of the privacy settings. */
export function encodeRedactions(
  revision: number,
  redactions: Redaction[],
): { bytes: Buffer; counts: Record<string, number> } {
  const counts: Record<string, number> = {};
  const kept: Redaction[] = [];
  let left = placesMax;
  for (const redaction of redactions) {
    const { rule, places } = redaction;
    const counted = counts[rule] ?? 0;
    counts[rule] = counted + Math.max(1, places.length);
    if (left <= 0) {
      if (counted === 0) kept.push({ ...redaction, places: [] });
      continue;
    }
    kept.push(places.length <= left ? redaction : { ...redaction, places: places.slice(0, left) });
    left -= Math.max(1, places.length);
  }
  const bytes = zstdCompressSync(JSON.stringify({ revision, counts, redactions: kept }));
  return { bytes: Buffer.from(bytes), counts };
}

export type ReadRedactions = { revision: number; counts: Record<string, number>; redactions: Redaction[] };

export function readRedactions(bytes: Uint8Array): ReadRedactions {
  return JSON.parse(zstdDecompressSync(bytes).toString());
}
