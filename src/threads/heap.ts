// Sizes the heaps of threads so that no body or trace within the limits can fill one.
import { keptValuesMax } from "../model/json-text.ts";

// On Node 24 a heap that fills up inside one long builtin, such as JSON.parse, ends the whole process; in plain
// JavaScript, and on Node 26 everywhere, it ends only the thread. So the input of a thread is limited before parsing,
// and its heap is 1.5 times what the costliest input within the limit was measured to need (docs/decisions/022).

/** Limits of one request's body, decompressed. */
export type BodyLimits = { bytes: number; elements: number };

/** Limits of one stored trace: bytes of JSON; objects, lists and commas in it. */
export type TraceLimits = { bytes: number; elements: number };

const megabyte = 1024 * 1024;
const margin = 1.5;
const idleBytes = 32 * megabyte;

// Measured with two million elements, as the smallest sufficient heap. Preparing a body: 226 bytes an element for
// empty OTLP events beside one character outside Latin-1 (two bytes each in protobuf, 49 characters as JSON), 126 for
// objects with a hundred distinct keys, 35 for empty objects. Reading stored traces: 128 for those keys, 102 for
// objects whose key is an index, 47 for the spans of an exporter.
const preparedElementBytes = 230;
const storedElementBytes = 130;
// One character outside Latin-1 makes a whole string take two bytes per character.
const textFactor = 2;

/** Exporters send one element per 13 to 25 bytes; stored traces contain one per 45. */
const bytesPerElement = 13;

export const defaultTraceLimits: TraceLimits = traceLimits(268_435_456);

/** The limits of a trace of this many bytes of JSON. */
export function traceLimits(bytes: number): TraceLimits {
  return { bytes, elements: Math.ceil(bytes / bytesPerElement) };
}

/** The heap that an open trace needs at most, without the JSON text that its tool calls were parsed from. */
export function traceHeapBytes({ bytes, elements }: TraceLimits): number {
  return elements * storedElementBytes + bytes * textFactor;
}

/** The heap beside that for small traces, which do not wait while a large one does. */
export function passingHeapBytes(limits: TraceLimits): number {
  return traceHeapBytes(limits) / 8;
}

/** The heap of this many values parsed from JSON text. */
export function keptValuesBytes(values: number): number {
  return values * storedElementBytes;
}

/** For a thread that prepares one body at a time. `repeatedBytes`: JSON that repeated resources and scopes may add. */
export function preparingHeapMb({ bytes, elements }: BodyLimits, repeatedBytes: number): number {
  // The JSON text to be stored is garbage before the arguments of tool calls are parsed.
  const text = (bytes + repeatedBytes) * textFactor;
  return heapMb(elements * preparedElementBytes + Math.max(text, keptValuesBytes(keptValuesMax)));
}

/**
 * For a thread that opens traces within these limits. Besides them, it has space for the tool calls of the last opened
 * trace, for values parsed while it is read, and for `keptBytes` of cached traces.
 */
export function readingHeapMb(limits: TraceLimits, keptBytes = 0): number {
  return heapMb(traceHeapBytes(limits) + 2 * keptValuesBytes(keptValuesMax) + keptBytes);
}

function heapMb(bytes: number): number {
  return Math.ceil((idleBytes + bytes * margin) / megabyte);
}
