// Prepares a request of one trace that is stored as it arrived, since nothing changes it.
import { readByNothing } from "../model/agent/read-by.ts";
import { takesEverything } from "../model/content.ts";
import type { Batch } from "../model/trace/trace.ts";
import { encodeReceived } from "../wire/batch.ts";
import { type DecodeLimits, decodeBody } from "../wire/body.ts";
import type { MediaType } from "../wire/media-type.ts";
import { readPlain } from "../wire/plain.ts";
import type { IntakeBy } from "./intake.ts";
import type { PreparedGroup } from "./prepare-groups.ts";
import { prepared } from "./prepared.ts";
import type { Readers } from "./readers.ts";
import { BodyRedaction } from "./redaction.ts";

/** Larger requests are stored as JSON: how much heap their spans take is not told by their bytes. */
const plainBytesMax = 256 * 1024;

/** Of placeholders. */
const opening = Buffer.from("⟦");

/** Null for any other request, and for one that is redacted or of which the agent does not take everything. */
export function preparePlain(
  bytes: Buffer,
  mediaType: MediaType,
  limits: DecodeLimits,
  readers: Readers | null,
): PreparedGroup | null {
  if (bytes.length > plainBytesMax) return null;
  const search = BodyRedaction.by(readers?.storing)?.search(readers?.agents ?? []);
  // What rules find is seen in the bytes of a text, and what reads like a placeholder is not.
  if (search && bytes.includes(opening)) return null;
  const plain = readPlain(bytes, mediaType, limits, search);
  if (!plain) return null;
  const { serviceName, traceId, spans, hasSigns } = plain;
  const by: IntakeBy = readers?.agents.find(agent => agent.serviceName === serviceName) ?? readByNothing;
  if (by.intake && !takesEverything(by.intake)) return null;
  // For other conventions, such a trace has nothing more than what is read of it here.
  const mayBeRead = hasSigns && by.conventions.length > 0;
  const isReadWhole = mayBeRead || by.conventionRules.length > 0 || Boolean(by.readFrom);
  const encoded = encodeReceived(bytes);
  const prepare = (batch: Batch) => prepared(batch, "otlp", encoded, by);
  const whole = () => prepare(decodeOne(bytes, mediaType, limits));
  let batch = isReadWhole ? whole() : prepare({ spans, resource: null, metadata: null });
  // What is no noise may be any attribute.
  if (!isReadWhole && batch.columns.noise) batch = whole();
  return { serviceName, traceId, spanCount: spans.length, resource: null, batch };
}

/** The whole batch of a plain request. */
function decodeOne(bytes: Buffer, mediaType: MediaType, limits: DecodeLimits): Batch {
  const body = decodeBody(bytes, mediaType, limits);
  if (body.path !== "otlp") throw new Error("A plain request is decoded to something else.");
  return body.groups[0]!.batch;
}
