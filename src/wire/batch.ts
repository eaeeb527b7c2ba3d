// How a batch rests in the database: JSON under zstd, every string and key exactly as it came (D1).
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Batch } from "../model/trace/trace.ts";
import { parseExactly } from "./json-exact.ts";
import { scanJson } from "./json-scan.ts";
import { allocateDense } from "./slab.ts";

// Level 1: on a 27 KB trace level 3 saves 3 % of the bytes and takes a quarter longer.
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** What is stored was nested within the limits when it came; how many elements it may hold is up to the reader. */
const unlimited = { nestingMax: Infinity, elementsMax: Infinity, spansMax: Infinity };

// Where the text of an ordinary batch is laid for compression. A buffer of its own for each would be the larger part
// of the memory that ingestion makes the collector look after.
const desk = Buffer.allocUnsafeSlow(512 * 1024);

/** `rawLength`: bytes before compression. JSON writes lone surrogates as escapes, so that UTF-8 can hold them. */
export function encodeBatch(batch: Batch): { bytes: Buffer; rawLength: number } {
  const text = JSON.stringify(batch);
  // A character is at most three bytes of UTF-8.
  const raw = text.length * 3 <= desk.length ? desk.subarray(0, desk.write(text)) : Buffer.from(text);
  return { bytes: fitted(zstdCompressSync(raw, options)), rawLength: raw.length };
}

/** Compression answers with a part of a buffer of 16 KB or more, which would be kept with it. */
function fitted(bytes: Buffer): Buffer {
  if (bytes.length > bytes.buffer.byteLength / 2) return bytes;
  const own = allocateDense(bytes.length);
  bytes.copy(own);
  return own;
}

/** A batch on its way out of the database: decompressed and measured, not parsed yet. */
export type ScannedBatch = { text: Buffer; elements: number; exactNeeded: boolean };

/** Costs about a tenth of reading the batch, and no heap: the text is outside it. */
export function scanBatch(bytes: Uint8Array): ScannedBatch {
  const text = zstdDecompressSync(bytes);
  return { text, ...scanJson(text, unlimited) };
}

export function readBatch({ text, exactNeeded }: ScannedBatch): Batch {
  const json = text.toString();
  return (exactNeeded ? parseExactly(json, Number) : JSON.parse(json)) as Batch;
}

export function decodeBatch(bytes: Uint8Array): Batch {
  return readBatch(scanBatch(bytes));
}
