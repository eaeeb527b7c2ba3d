// Encodes and reads stored batches, compressed by zstd: JSON, or an OTLP request as it arrived.
import { hash } from "node:crypto";
import { parseExactly } from "../model/json-exact.ts";
import type { Attributes, Batch } from "../model/trace/trace.ts";
import { compress, compressText } from "./compress.ts";
import { decompress } from "./decompress.ts";
import { scanJson } from "./json-scan.ts";
import { type Json, readOtlpJson } from "./otlp-json.ts";
import { readOtlpProtobuf } from "./otlp-protobuf.ts";
import { elementsOfPlain } from "./plain-size.ts";

/** Nesting was limited at ingestion, and the reader limits elements. */
const unlimited = { nestingMax: Infinity, elementsMax: Infinity, spansMax: Infinity, tracesMax: Infinity };

/** `rawLength`: bytes before compression. JSON escapes lone surrogates, so UTF-8 can represent them. */
export function encodeBatch(batch: Batch): Encoded {
  return compressText(JSON.stringify(batch));
}

/**
 * A batch whose resource is stored elsewhere, for several batches: `hash` identifies it, so that batches with different
 * resources have different bytes.
 */
export function encodeWithoutResource(batch: Batch, hash: string): Encoded {
  return compressText(JSON.stringify({ ...batch, resource: null, resourceHash: hash }));
}

export function encodeResource(resource: Attributes): Encoded & { hash: string } {
  const text = JSON.stringify(resource);
  return { ...compressText(text), hash: hash("sha256", text) };
}

/** A request that `readPlain` accepted, as it arrived. */
export function encodeReceived(request: Buffer): Encoded {
  return { bytes: compress(request), rawLength: request.length };
}

export type Encoded = { bytes: Buffer; rawLength: number };

/** A stored batch or resource: decompressed and measured, not parsed yet. */
export type Scanned = {
  /** JSON, unless it was received as protobuf. */
  text: Buffer;
  elements: number;
  exactNeeded: boolean;
  /** What it is if it is stored as it arrived; null: a batch. */
  received: "protobuf" | "json" | null;
};

/** The tag of `resourceSpans`, with which every plain request in protobuf begins, and no JSON. */
const plainBegin = 0x0a;
/** The same in JSON. No other batch begins so. */
const plainJsonBegin = Buffer.from('{"resourceSpans":');
const spanId = Buffer.from('"spanId"');
/** What the spans of a batch have and a request may leave out: objects, lists and commas. */
const spanElements = 28;

/** Costs about a tenth of reading the batch, and no JavaScript heap: the text is in a Buffer. */
export function scan(bytes: Uint8Array): Scanned {
  return scanText(decompress(bytes));
}

/** The same for what is decompressed already. */
export function scanText(text: Buffer): Scanned {
  if (isProtobuf(text))
    return { text, elements: elementsOfPlain(text), exactNeeded: false, received: "protobuf" };
  const scanned = { text, ...scanJson(text, unlimited) };
  if (!text.subarray(0, plainJsonBegin.length).equals(plainJsonBegin)) return { ...scanned, received: null };
  let spans = 0;
  for (let at = text.indexOf(spanId); at !== -1; at = text.indexOf(spanId, at + 1)) spans++;
  return { ...scanned, elements: scanned.elements + spans * spanElements, received: "json" };
}

/** Whether a decompressed batch is an OTLP request in protobuf, in which texts are not written as in JSON. */
export function isProtobuf(text: Buffer): boolean {
  return text[0] === plainBegin;
}

/** `resource`: that of the batch, if it is stored elsewhere. */
export function readBatch(scanned: Scanned, resource?: Attributes): Batch {
  const { received, text } = scanned;
  if (received === "protobuf") return readOtlpProtobuf(text, unlimited)[0]!.batch;
  const parsed = parse(scanned);
  if (received === "json") return readOtlpJson(parsed as Json, unlimited, text.length)[0]!.batch;
  const batch = parsed as Batch;
  if (!resource) return batch;
  const { resourceHash: _, ...rest } = batch as Batch & { resourceHash: string };
  return { ...rest, resource };
}

export function readResource(scanned: Scanned): Attributes {
  return parse(scanned) as Attributes;
}

function parse({ text, exactNeeded }: Scanned): unknown {
  const json = text.toString();
  return exactNeeded ? parseExactly(json, Number) : JSON.parse(json);
}
