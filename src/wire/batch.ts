// Encodes and reads stored batches: JSON compressed by zstd, every string and key exactly as received.
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Batch } from "../model/trace/trace.ts";
import { parseExactly } from "./json-exact.ts";
import { scanJson } from "./json-scan.ts";
import { allocateDense } from "./slab.ts";

// Level 1: on a 27 KB trace, level 3 saves 3% of the bytes and takes a quarter longer.
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Nesting was limited at ingestion, and the reader limits elements. */
const unlimited = { nestingMax: Infinity, elementsMax: Infinity, spansMax: Infinity };

// Reused for the text of ordinary batches: a buffer per batch would be most of the garbage of ingestion.
const scratch = Buffer.allocUnsafeSlow(512 * 1024);

/** `rawLength`: bytes before compression. JSON escapes lone surrogates, so UTF-8 can represent them. */
export function encodeBatch(batch: Batch): { bytes: Buffer; rawLength: number } {
  const text = JSON.stringify(batch);
  // A character is at most three bytes of UTF-8.
  const raw =
    text.length * 3 <= scratch.length ? scratch.subarray(0, scratch.write(text)) : Buffer.from(text);
  return { bytes: trimmed(zstdCompressSync(raw, options)), rawLength: raw.length };
}

/** Copies small results: compression returns a view of a buffer of at least 16 KB, which would be kept in memory. */
function trimmed(bytes: Buffer): Buffer {
  if (bytes.length > bytes.buffer.byteLength / 2) return bytes;
  const own = allocateDense(bytes.length);
  bytes.copy(own);
  return own;
}

/** A stored batch: decompressed and measured, not parsed yet. */
export type ScannedBatch = { text: Buffer; elements: number; exactNeeded: boolean };

/** Costs about a tenth of reading the batch, and no JavaScript heap: the text is in a Buffer. */
export function scanBatch(bytes: Uint8Array): ScannedBatch {
  const text = zstdDecompressSync(bytes);
  return { text, ...scanJson(text, unlimited) };
}

export function readBatch({ text, exactNeeded }: ScannedBatch): Batch {
  const json = text.toString();
  return (exactNeeded ? parseExactly(json, Number) : JSON.parse(json)) as Batch;
}
