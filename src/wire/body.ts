// Decodes a decompressed request body: one canonical trace, or the traces of an OTLP export.
import { isRecord } from "../model/record.ts";
import type { Batch } from "../model/trace/trace.ts";
import { type PlatformHint, readCanonical } from "./canonical.ts";
import { parseJson } from "./json.ts";
import type { DecodeLimits } from "./limits.ts";
import type { MediaType } from "./media-type.ts";
import type { OtlpGroup } from "./otlp-groups.ts";
import { readOtlpJson } from "./otlp-json.ts";
import { readOtlpProtobuf } from "./otlp-protobuf.ts";
import { refuseGzip } from "./still-gzip.ts";
import { shapeRefusal, unknownShape } from "./unknown-shape.ts";

export type { DecodeLimits, PlatformHint };

export type DecodedBody =
  | { path: "canonical"; batch: Batch; platformHint: PlatformHint | null }
  | { path: "otlp"; groups: OtlpGroup[] };

/**
 * `bytes`: decompressed, and within the limit on size. Throws Refusals only: VALIDATION_ERROR, OTLP_NO_SPANS,
 * OTLP_PROTOBUF_INVALID, PAYLOAD_TOO_LARGE. OTLP groups may be refused one by one.
 */
export function decodeBody(bytes: Buffer, mediaType: MediaType, limits: DecodeLimits): DecodedBody {
  refuseGzip(bytes, mediaType);
  if (mediaType === "protobuf") return { path: "otlp", groups: readOtlpProtobuf(bytes, limits) };
  const { value: body, exact } = parseJson(bytes, limits);
  if (!isRecord(body)) throw unknownShape(body);
  // Null counts as absent, as in every field.
  const canonical = (body["spans"] ?? null) !== null;
  const otlp = (body["resourceSpans"] ?? null) !== null;
  if (canonical && otlp) throw shapeRefusal("The body has both spans and resourceSpans.");
  if (canonical) return { path: "canonical", ...readCanonical(body, exact, limits) };
  if (otlp) return { path: "otlp", groups: readOtlpJson(body, limits, bytes.length) };
  throw unknownShape(body);
}
