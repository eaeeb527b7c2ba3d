// What is read of an OTLP request that is stored as it arrived.
import type { Span } from "../model/trace/trace.ts";

/** The one trace of a request. `spans` have those attributes only that columns are derived from, and no events or links. */
export type PlainTrace = {
  serviceName: string;
  traceId: string;
  spans: Span[];
  /** Whether a convention with names of its own may recognize a span, or messages may be in events. */
  hasSigns: boolean;
};

/**
 * Sees all that could be redacted: attributes but for the service's name, messages of statuses and states of traces. False: the
 * request cannot stay as it arrived.
 */
export type PlainWatcher = {
  isCleanAttribute(key: string, value: unknown): boolean;
  /** Whether that is seen from the bytes of a text, in UTF-8 and as it is or as JSON writes it. False says nothing. */
  isSeenClean(key: string, bytes: Uint8Array, from: number, to: number): boolean;
  isCleanText(text: string): boolean;
};
