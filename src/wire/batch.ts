// How a batch rests in the database: JSON under zstd, every string and key exactly as it came (D1).
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Batch } from "../model/trace.ts";
import { parseExactly } from "./json-exact.ts";
import { scanJson } from "./json-scan.ts";

// Level 1: on a 27 KB trace level 3 saves 3 % of the bytes and takes a quarter longer.
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** What is stored has passed the limits once. */
const unlimited = { nestingMax: Infinity, elementsMax: Infinity, spansMax: Infinity };

// Where the text of an ordinary batch is laid for compression. A buffer of its own for each would be the larger part
// of the memory that ingestion makes the collector look after.
const desk = Buffer.allocUnsafeSlow(512 * 1024);

/** `rawLength`: bytes before compression. JSON writes lone surrogates as escapes, so that UTF-8 can hold them. */
export function encodeBatch(batch: Batch): { bytes: Buffer; rawLength: number } {
  const text = JSON.stringify(batch);
  // A character is at most three bytes of UTF-8.
  const raw = text.length * 3 <= desk.length ? desk.subarray(0, desk.write(text)) : Buffer.from(text);
  return { bytes: zstdCompressSync(raw, options), rawLength: raw.length };
}

export function decodeBatch(bytes: Uint8Array): Batch {
  const raw = zstdDecompressSync(bytes);
  const text = raw.toString();
  const { exactNeeded } = scanJson(raw, unlimited);
  return (exactNeeded ? parseExactly(text, Number) : JSON.parse(text)) as Batch;
}
