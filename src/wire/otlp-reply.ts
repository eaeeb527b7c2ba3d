// Encodes replies to OTLP clients: success, partial success, or an error, in JSON or protobuf.
import protobuf from "protobufjs/minimal.js";
import type { Refusal } from "../model/refusal.ts";
import type { RefusalCode } from "../model/refusals.ts";
import type { MediaType } from "./media-type.ts";

export type PartialSuccess = ({ rejectedSpans: number } | { rejectedLogRecords: number }) & {
  errorMessage: string;
};

const messageBytesMax = 1024;
const whereListed = "The rejected services are listed in the project's ingestion log.";

/** HTTP status to the equivalent google.rpc code. */
const grpcCodes: Record<number, number> = {
  400: 3, // INVALID_ARGUMENT
  401: 16, // UNAUTHENTICATED
  403: 7, // PERMISSION_DENIED
  404: 5, // NOT_FOUND
  405: 12, // UNIMPLEMENTED
  408: 4, // DEADLINE_EXCEEDED
  409: 10, // ABORTED
  413: 8, // RESOURCE_EXHAUSTED
  415: 3, // INVALID_ARGUMENT
  417: 3, // INVALID_ARGUMENT
  429: 8, // RESOURCE_EXHAUSTED
  500: 13, // INTERNAL
  503: 14, // UNAVAILABLE
};
const grpcUnknown = 2;

/** An ExportTraceServiceResponse or ExportLogsServiceResponse, which have the same numbers: `{}`, or 0 bytes, if nothing was refused. */
export function encodeSuccess(mediaType: MediaType, partial?: PartialSuccess): Buffer {
  if (mediaType === "json") return Buffer.from(JSON.stringify(partial ? { partialSuccess: partial } : {}));
  if (partial === undefined) return Buffer.alloc(0);
  const writer = protobuf.Writer.create();
  writer.uint32(1 * 8 + 2).fork();
  const rejected = "rejectedSpans" in partial ? partial.rejectedSpans : partial.rejectedLogRecords;
  writer.uint32(1 * 8).int64(rejected);
  writer.uint32(2 * 8 + 2).string(partial.errorMessage);
  return Buffer.from(writer.ldelim().finish());
}

/** A google.rpc.Status in protobuf, with the message `CODE: message (hint)`. */
export function encodeStatus(refusal: Refusal): Buffer {
  const hint = refusal.hint === undefined ? "" : ` (${refusal.hint})`;
  const writer = protobuf.Writer.create();
  writer.uint32(1 * 8).int32(grpcCodes[refusal.status] ?? grpcUnknown);
  writer.uint32(2 * 8 + 2).string(`${refusal.code}: ${refusal.message}${hint}`);
  return Buffer.from(writer.finish());
}

/** Each error code with the number of rejected spans and traces, then where to look and its first hint: at most 1 KB of UTF-8. */
export function partialMessage(refused: { spanCount: number; refusal: Refusal }[]): string {
  const ofSpans = refused.map(({ spanCount: count, refusal }) => ({ count, refusal }));
  return summarize(ofSpans, (spans, traces) => `${counted(spans, "span")} in ${counted(traces, "trace")}`);
}

/** The same for the log records of a request. */
export function partialMessageOfLogs(refused: { recordCount: number; refusal: Refusal }[]): string {
  const ofRecords = refused.map(({ recordCount: count, refusal }) => ({ count, refusal }));
  return summarize(ofRecords, records => counted(records, "log record"));
}

function summarize(
  refused: { count: number; refusal: Refusal }[],
  say: (count: number, entries: number) => string,
): string {
  const byCode = new Map<RefusalCode, { count: number; entries: number; hint: string | undefined }>();
  for (const { count, refusal } of refused) {
    const sum = byCode.get(refusal.code) ?? { count: 0, entries: 0, hint: refusal.hint };
    byCode.set(refusal.code, { ...sum, count: sum.count + count, entries: sum.entries + 1 });
  }
  const counts = Array.from(byCode, ([code, { count, entries }]) => `${code}: ${say(count, entries)}`);
  const hints = Array.from(byCode.values(), sum => sum.hint).filter(hint => hint !== undefined);
  const message = [`${counts.join("; ")}.`, whereListed, ...hints].join(" ");
  // A character that was cut in half decodes as U+FFFD, which is removed too.
  return Buffer.from(message)
    .subarray(0, messageBytesMax)
    .toString()
    .replace(/(?<!\uFFFD)\uFFFD+$/, "");
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
