// Parses Content-Type and Content-Encoding, and refuses unsupported ones.
import { Refusal } from "../model/refusal.ts";

export type MediaType = "json" | "protobuf";
export type ContentEncoding = "identity" | "gzip";

/** A header as Node provides it: a list if it was sent more than once. */
type Header = string | string[] | undefined;

const mediaTypes = new Map<string, MediaType>([
  ["application/json", "json"],
  ["application/x-protobuf", "protobuf"],
  ["application/protobuf", "protobuf"],
]);

/** Parameters and case are ignored. Throws UNSUPPORTED_MEDIA_TYPE. */
export function readMediaType(contentType: Header): MediaType {
  const essence = single(contentType).split(";", 1)[0]!.trim().toLowerCase();
  const mediaType = mediaTypes.get(essence);
  if (mediaType) return mediaType;
  throw new Refusal("UNSUPPORTED_MEDIA_TYPE", {
    message: essence ? "This Content-Type is not supported." : "The Content-Type header is missing.",
    hint: essence.startsWith("application/grpc")
      ? "OTLP/gRPC is not accepted. Set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf."
      : "Send application/json, or application/x-protobuf for OTLP protobuf.",
  });
}

/** One layer of gzip, or none. Throws UNSUPPORTED_MEDIA_TYPE. */
export function readContentEncoding(contentEncoding: Header): ContentEncoding {
  const encoding = single(contentEncoding).trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return "identity";
  if (encoding === "gzip") return "gzip";
  throw new Refusal("UNSUPPORTED_MEDIA_TYPE", {
    message: "This Content-Encoding is not supported.",
    hint: "Send the body uncompressed, or compressed once with gzip.",
  });
}

/** A header sent twice becomes a comma-separated list, which is not supported. */
function single(header: Header): string {
  return Array.isArray(header) ? header.join(",") : (header ?? "");
}
