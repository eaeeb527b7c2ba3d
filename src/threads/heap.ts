// Sizes the heaps of threads so that nothing within the limits on bodies and traces can fill one.
import { keptValuesMax } from "../model/json-text.ts";

// On Node 24 a heap that fills up inside one long builtin, such as JSON.parse, ends the whole process; in plain
// JavaScript, and on Node 26 everywhere, it ends the thread alone. So what a thread parses is limited first, and its
// heap is what the costliest input within the limit was measured to need (docs/decisions/022), and half as much again.

/** Of one request's body, decompressed. */
export type BodyLimits = { bytes: number; elements: number };

/** Of one stored trace: bytes of JSON; objects, lists and commas in it. */
export type TraceLimits = { bytes: number; elements: number };

const megabyte = 1024 * 1024;
const margin = 1.5;
const idleBytes = 32 * megabyte;

// Measured with two million elements, as the smallest heap that is enough. Preparing a body: 226 bytes an element for
// empty OTLP events beside one character outside Latin-1 (two bytes each in protobuf, 49 characters as JSON), 126 for
// objects with a hundred keys of their own, 35 for empty objects. Reading what is stored: 128 for those keys, 102 for
// objects whose key is an index, 47 for the spans of an exporter.
const preparedElementBytes = 230;
const storedElementBytes = 130;
// One character outside Latin-1 makes a whole string take two bytes for each of its characters.
const textFactor = 2;

/** Exporters send one element per 13 to 25 bytes, and what is stored of it holds one per 45. */
const bytesPerElement = 13;

export const defaultTraceLimits: TraceLimits = traceLimits(268_435_456);

/** What a trace of this many bytes of JSON may hold. */
export function traceLimits(bytes: number): TraceLimits {
  return { bytes, elements: Math.ceil(bytes / bytesPerElement) };
}

/** The most that an open trace takes, without the JSON text that its tool calls were parsed from. */
export function traceHeapBytes({ bytes, elements }: TraceLimits): number {
  return elements * storedElementBytes + bytes * textFactor;
}

/** What so many values take that were parsed from JSON text. */
export function keptValuesBytes(values: number): number {
  return values * storedElementBytes;
}

/** For a thread that prepares one body after the other. `repeatedBytes`: what spans and traces share, written out. */
export function preparingHeapMb({ bytes, elements }: BodyLimits, repeatedBytes: number): number {
  // The JSON text to be stored is gone before the arguments of tool calls are parsed.
  const text = (bytes + repeatedBytes) * textFactor;
  return heapMb(elements * preparedElementBytes + Math.max(text, keptValuesBytes(keptValuesMax)));
}

/**
 * For a thread with a room for traces of these limits. Beside the room there is space for the tool calls of the trace
 * opened last, for what is parsed while it is read, and for `keptBytes` of traces that are kept.
 */
export function readingHeapMb(limits: TraceLimits, keptBytes = 0): number {
  return heapMb(traceHeapBytes(limits) + 2 * keptValuesBytes(keptValuesMax) + keptBytes);
}

function heapMb(bytes: number): number {
  return Math.ceil((idleBytes + bytes * margin) / megabyte);
}
