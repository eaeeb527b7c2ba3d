// Rejects a body that is gzip after decompression: as JSON or protobuf, nothing in it would say why it is invalid.
import { Refusal } from "../model/refusal.ts";
import type { MediaType } from "./media-type.ts";

/** Throws VALIDATION_ERROR, or OTLP_PROTOBUF_INVALID for protobuf. Neither format can begin with these two bytes. */
export function refuseGzip(bytes: Buffer, mediaType: MediaType): void {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return;
  throw new Refusal(mediaType === "protobuf" ? "OTLP_PROTOBUF_INVALID" : "VALIDATION_ERROR", {
    message: "The body is compressed with gzip more often than Content-Encoding says.",
    hint: "Compress it once, and send Content-Encoding: gzip. A proxy may drop that header.",
  });
}
