// Compares a request that is stored as it arrived with the same one decoded and encoded again: nobody must see which it was.
import { isDeepStrictEqual } from "node:util";
import { prepareBatch, prepareBody } from "../src/ingest/prepare.ts";
import type { PreparedBatch } from "../src/ingest/prepared.ts";
import type { Readers } from "../src/ingest/readers.ts";
import { readBatch, scan } from "../src/wire/batch.ts";
import { decodeBody } from "../src/wire/body.ts";
import { decodeLimits } from "../src/wire/limits.ts";
import type { MediaType } from "../src/wire/media-type.ts";

/** Whether the batch is stored as it arrived. */
export function isAsReceived({ bytes }: Pick<PreparedBatch, "bytes">): boolean {
  return scan(bytes).received !== null;
}

/** What differs, or null; undefined if the request is not stored as it arrived. */
export function differenceAsReceived(
  request: Buffer,
  mediaType: MediaType,
  readers: Readers | null,
): string | null | undefined {
  const body = prepareBody(request, mediaType, decodeLimits, readers);
  const [group] = body.path === "otlp" ? body.groups : [];
  if (!group || "refusal" in group || !isAsReceived(group.batch)) return undefined;
  const whole = decodeBody(request, mediaType, decodeLimits);
  const groups = whole.path === "otlp" ? whole.groups : [];
  const [decoded] = groups;
  if (groups.length !== 1 || !decoded || decoded.refusal) return "the decoder finds more, or refuses it";
  const again = prepareBatch(decoded.batch, "otlp", group.batch.readBy, readers?.storing);
  const [received, encoded] = [scan(group.batch.bytes), scan(again.bytes)];
  const parts: [string, unknown, unknown][] = [
    ["service", group.serviceName, decoded.serviceName],
    ["trace id", group.traceId, decoded.traceId],
    ["number of spans", [group.spanCount, group.batch.spanCount], [decoded.spanCount, again.spanCount]],
    ["redactions", group.batch.redactions, again.redactions],
    ["columns", group.batch.columns, again.columns],
    ["span keys", group.batch.spanKeys, again.spanKeys],
    ["spans", JSON.stringify(readBatch(received)), encoded.text.toString()],
    ["values", readBatch(received), readBatch(encoded)],
  ];
  const differing = parts.find(([, one, other]) => !isDeepStrictEqual(one, other));
  if (differing) return differing[0];
  // The heap that it takes to read.
  return received.elements < encoded.elements ? "fewer elements than its JSON has" : null;
}
