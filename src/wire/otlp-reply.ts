// Encodes replies to OTLP clients: success, partial success, or an error, in JSON or protobuf.
import protobuf from "protobufjs/minimal.js";
import type { Refusal, RefusalCode } from "../model/refusal.ts";
import type { MediaType } from "./media-type.ts";

export type PartialSuccess = { rejectedSpans: number; errorMessage: string };

const messageBytesMax = 1024;
const whereListed = "The rejected services are listed in the project's ingestion log.";

/** HTTP status to the equivalent google.rpc code. */
const grpcCodes: Record<number, number> = {
  400: 3, // INVALID_ARGUMENT
  401: 16, // UNAUTHENTICATED
  403: 7, // PERMISSION_DENIED
  404: 5, // NOT_FOUND
  405: 12, // UNIMPLEMENTED
  409: 10, // ABORTED
  413: 8, // RESOURCE_EXHAUSTED
  415: 3, // INVALID_ARGUMENT
  417: 3, // INVALID_ARGUMENT
  429: 8, // RESOURCE_EXHAUSTED
  500: 13, // INTERNAL
  503: 14, // UNAVAILABLE
};
const grpcUnknown = 2;

/** An ExportTraceServiceResponse: `{}`, or 0 bytes, if nothing was refused. */
export function encodeSuccess(mediaType: MediaType, partial?: PartialSuccess): Buffer {
  if (mediaType === "json") return Buffer.from(JSON.stringify(partial ? { partialSuccess: partial } : {}));
  if (partial === undefined) return Buffer.alloc(0);
  const writer = protobuf.Writer.create();
  writer.uint32(1 * 8 + 2).fork();
  writer.uint32(1 * 8).int64(partial.rejectedSpans);
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
  const byCode = new Map<RefusalCode, { spans: number; traces: number; hint: string | undefined }>();
  for (const { spanCount, refusal } of refused) {
    const sum = byCode.get(refusal.code) ?? { spans: 0, traces: 0, hint: refusal.hint };
    byCode.set(refusal.code, { ...sum, spans: sum.spans + spanCount, traces: sum.traces + 1 });
  }
  const counts = Array.from(
    byCode,
    ([code, { spans, traces }]) => `${code}: ${counted(spans, "span")} in ${counted(traces, "trace")}`,
  );
  const hints = Array.from(byCode.values(), sum => sum.hint).filter(hint => hint !== undefined);
  const message = [`${counts.join("; ")}.`, whereListed, ...hints].join(" ");
  // A character that was cut in half decodes as U+FFFD, which is removed too.
  return Buffer.from(message)
    .subarray(0, messageBytesMax)
    .toString()
    .replace(/\uFFFD+$/, "");
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
