// Prepares a body for storage: decodes, derives and compresses it, without I/O.
import { readByNothing } from "../model/agent/read-by.ts";
import type { StoringRules } from "../model/privacy.ts";
import type { Batch, TracePath } from "../model/trace/trace.ts";
import {
  encodeBatch,
  encodeResource,
  encodeWithoutResource,
  readBatch,
  readResource,
  scan,
} from "../wire/batch.ts";
import { type DecodeLimits, decodeBody, type PlatformHint } from "../wire/body.ts";
import type { MediaType } from "../wire/media-type.ts";
import { type IntakeBy, takerOf } from "./intake.ts";
import {
  type PreparedGroup,
  type PreparedResource,
  prepareGroups,
  type RefusedGroup,
} from "./prepare-groups.ts";
import { preparePlain } from "./prepare-plain.ts";
import { type PreparedBatch, prepared } from "./prepared.ts";
import type { Readers } from "./readers.ts";
import { BodyRedaction } from "./redaction.ts";

export type PreparedBody =
  | { path: "canonical"; platformHint: PlatformHint | null; batch: PreparedBatch }
  | { path: "otlp"; groups: (PreparedGroup | RefusedGroup)[]; resources: PreparedResource[] };

/** Throws the Refusal of a body that is refused as a whole. */
export function prepareBody(
  bytes: Buffer,
  mediaType: MediaType,
  limits: DecodeLimits,
  readers: Readers | null = null,
): PreparedBody {
  const plain = preparePlain(bytes, mediaType, limits, readers);
  if (plain) return { path: "otlp", groups: [plain], resources: [] };
  const body = decodeBody(bytes, mediaType, limits);
  if (body.path === "canonical") {
    return {
      path: "canonical",
      platformHint: body.platformHint,
      batch: prepareBatch(body.batch, "canonical", agentOfHint(body.platformHint, readers), readers?.storing),
    };
  }
  return { path: "otlp", ...prepareGroups(body.groups, bytes.length, readers) };
}

/** For batches created by the service; request bodies go through `prepareBody`. */
export function prepareBatch(
  sent: Batch,
  path: TracePath,
  by: IntakeBy = readByNothing,
  storing?: StoringRules | null,
): PreparedBatch {
  const kept = takerOf(by)(sent, path);
  const batch = BodyRedaction.by(storing)?.redact(kept, by) ?? kept;
  return prepared(batch, path, encodeBatch(batch), by);
}

/** A batch that was prepared by other settings than its agent has now, or whose trace has been forgotten. */
export type PrepareAgain = {
  batch: Pick<PreparedBatch, "bytes">;
  /** Its resource, compressed, if that is stored apart. */
  resource: Uint8Array | null;
  path: TracePath;
  by: IntakeBy;
  isForgotten: boolean;
  storing?: StoringRules | null;
};

/** `resource`: to be stored apart. */
export type PreparedAgain = { batch: PreparedBatch; resource: PreparedResource | null };

export function prepareAgain({
  batch,
  resource,
  path,
  by,
  isForgotten,
  storing,
}: PrepareAgain): PreparedAgain {
  const scanned = scan(batch.bytes);
  const stored = readBatch(scanned, resource ? readResource(scan(resource)) : undefined);
  const kept = takerOf(by)(stored, path, isForgotten);
  const taken = BodyRedaction.by(storing)?.redact(kept, by) ?? kept;
  // The settings changed, but nothing of this batch: it stays as it arrived.
  if (!resource && taken === stored) {
    const encoded = { bytes: asBuffer(batch.bytes), rawLength: scanned.text.length };
    return { batch: prepared(taken, path, encoded, by), resource: null };
  }
  if (!resource || !taken.resource)
    return { batch: prepared(taken, path, encodeBatch(taken), by), resource: null };
  const apart = encodeResource(taken.resource);
  const { bytes, rawLength } = encodeWithoutResource(taken, apart.hash);
  const encoded = { bytes, rawLength: rawLength + apart.rawLength };
  return { batch: prepared(taken, path, encoded, by), resource: apart };
}

/** A batch that came from another thread is a plain byte array. */
function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function agentOfHint(hint: PlatformHint | null, readers: Readers | null): IntakeBy {
  const id = readers?.only ?? (typeof hint?.value === "string" ? hint.value.toLowerCase() : null);
  return readers?.agents.find(({ agentId }) => agentId === id) ?? readByNothing;
}
