// Encodes and reads stored batches: JSON compressed by zstd, every string and key exactly as received.
import { hash } from "node:crypto";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Attributes, Batch } from "../model/trace/trace.ts";
import { parseExactly } from "./json-exact.ts";
import { scanJson } from "./json-scan.ts";
import { allocateDense } from "./slab.ts";

// Level 1: on a 27 KB trace, level 3 saves 3% of the bytes and takes a quarter longer.
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Nesting was limited at ingestion, and the reader limits elements. */
const unlimited = { nestingMax: Infinity, elementsMax: Infinity, spansMax: Infinity, tracesMax: Infinity };

// Reused for the text of ordinary batches: a buffer per batch would be most of the garbage of ingestion.
const scratch = Buffer.allocUnsafeSlow(512 * 1024);

/** `rawLength`: bytes before compression. JSON escapes lone surrogates, so UTF-8 can represent them. */
export function encodeBatch(batch: Batch): Encoded {
  return encode(JSON.stringify(batch));
}

/**
 * A batch whose resource is stored elsewhere, for several batches: `hash` identifies it, so that batches with different
 * resources have different bytes.
 */
export function encodeWithoutResource({ spans, metadata, content }: Batch, hash: string): Encoded {
  return encode(JSON.stringify({ spans, resource: null, metadata, content, resourceHash: hash }));
}

export function encodeResource(resource: Attributes): Encoded & { hash: string } {
  const text = JSON.stringify(resource);
  return { ...encode(text), hash: hash("sha256", text) };
}

export type Encoded = { bytes: Buffer; rawLength: number };

function encode(text: string): Encoded {
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

/** A stored batch or resource: decompressed and measured, not parsed yet. */
export type Scanned = { text: Buffer; elements: number; exactNeeded: boolean };

/** Costs about a tenth of reading the batch, and no JavaScript heap: the text is in a Buffer. */
export function scan(bytes: Uint8Array): Scanned {
  const text = zstdDecompressSync(bytes);
  return { text, ...scanJson(text, unlimited) };
}

/** `resource`: that of the batch, if it is stored elsewhere. */
export function readBatch(scanned: Scanned, resource?: Attributes): Batch {
  const batch = parse(scanned) as Batch;
  if (!resource) return batch;
  const { spans, metadata, content } = batch;
  return { spans, resource, metadata, ...(content && { content }) };
}

export function readResource(scanned: Scanned): Attributes {
  return parse(scanned) as Attributes;
}

function parse({ text, exactNeeded }: Scanned): unknown {
  const json = text.toString();
  return exactNeeded ? parseExactly(json, Number) : JSON.parse(json);
}
