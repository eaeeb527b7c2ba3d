// Prepares a body for storage: decodes, derives and compresses it, without I/O.
import type { AgentConventions } from "../model/agent/agent.ts";
import { type ContentGone, type Intake, takesEverything } from "../model/content.ts";
import { type ReadBy, readByNothing, readTraceBy } from "../model/conventions/read-by.ts";
import type { StoringRules } from "../model/privacy.ts";
import { markBatch } from "../model/redaction/marks.ts";
import type { Redaction } from "../model/redaction.ts";
import { Refusal } from "../model/refusal.ts";
import { columnsOf, type TraceColumns } from "../model/trace/columns.ts";
import { derive } from "../model/trace/derive.ts";
import { mergeBatches } from "../model/trace/merge.ts";
import { mayBeRedacted, saysTheSame } from "../model/trace/text-redactions.ts";
import type { Attributes, Batch, Derived, TracePath } from "../model/trace/trace.ts";
import { spanKeysOf } from "../store/traces/span-keys.ts";
import type { StoredRedactions } from "../store/traces/write.ts";
import {
  type Encoded,
  encodeBatch,
  encodeReceived,
  encodeResource,
  encodeWithoutResource,
  readBatch,
  readResource,
  scan,
} from "../wire/batch.ts";
import { type DecodeLimits, decodeBody, type PlatformHint } from "../wire/body.ts";
import type { MediaType } from "../wire/media-type.ts";
import type { OtlpGroup } from "../wire/otlp-groups.ts";
import { readPlain } from "../wire/otlp-plain.ts";
import { readPlainJson } from "../wire/otlp-plain-json.ts";
import { type IntakeBy, takerOf } from "./intake.ts";
import { BodyRedaction, kept, type RedactedBatch } from "./redaction.ts";

/** A batch as it is stored, and the columns of its trace as derived from this batch alone. */
export type PreparedBatch = {
  /** Distinct spans. */
  spanCount: number;
  /** Eight bytes for each distinct span id. */
  spanKeys: Buffer;
  /** Compressed. */
  bytes: Buffer;
  /** Bytes before compression, including those of a resource that is stored apart. */
  rawLength: number;
  columns: TraceColumns;
  /** What the columns were derived with. */
  readBy: ReadBy;
  /** The settings by which it was changed before; absent: it is as it arrived. */
  intake?: Intake | undefined;
  /** What it lacks. */
  content?: ContentGone | undefined;
  /** Absent: nothing was redacted. */
  redactions?: StoredRedactions | undefined;
};

/** One trace of an OTLP request; refused as a whole or ready as a whole. */
export type PreparedGroup = {
  serviceName: string;
  traceId: string;
  spanCount: number;
  batch: PreparedBatch;
  /** The position of its resource in the body's `resources`; null if the batch contains it. */
  resource: number | null;
};
export type RefusedGroup = {
  /** Null if missing or unreadable. */
  serviceName: string | null;
  spanCount: number;
  refusal: Refusal;
};

export type PreparedBody =
  | { path: "canonical"; platformHint: PlatformHint | null; batch: PreparedBatch }
  | { path: "otlp"; groups: (PreparedGroup | RefusedGroup)[]; resources: PreparedResource[] };

/** A resource that several traces of a request share. The hash is that of its JSON, hexadecimal. */
export type PreparedResource = Encoded & { hash: string };

/**
 * The agents that the request may name and that have rules, conventions or settings of what is stored. `only`: the only agent
 * that the key may write to. `storing`: what their project redacts, if anything.
 */
export type Readers = { agents: AgentConventions[]; only: string | null; storing?: StoringRules | null };

/** Throws the Refusal of a body that is refused as a whole. */
export function prepareBody(
  bytes: Buffer,
  mediaType: MediaType,
  limits: DecodeLimits,
  readers: Readers | null = null,
): PreparedBody {
  const plain = preparePlain(bytes, mediaType, limits, readers);
  if (plain) return plain;
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

/** Larger requests are stored as JSON: how much heap their spans take is not told by their bytes. */
const plainBytesMax = 256 * 1024;

/** A request that is stored as it arrived, since nothing changes it; null for any other. */
function preparePlain(
  bytes: Buffer,
  mediaType: MediaType,
  limits: DecodeLimits,
  readers: Readers | null,
): PreparedBody | null {
  if (bytes.length > plainBytesMax || readers?.storing) return null;
  const plain = mediaType === "protobuf" ? readPlain(bytes, limits) : readPlainJson(bytes, limits);
  if (!plain) return null;
  const { serviceName, traceId, spans } = plain;
  const by: IntakeBy = readers?.agents.find(agent => agent.serviceName === serviceName) ?? readByNothing;
  if (by.intake && !takesEverything(by.intake)) return null;
  const isReadWhole = by.conventions.length + by.conventionRules.length > 0;
  const batch = isReadWhole ? decodeOne(bytes, mediaType, limits) : { spans, resource: null, metadata: null };
  return {
    path: "otlp",
    groups: [
      {
        ...{ serviceName, traceId, spanCount: spans.length, resource: null },
        batch: prepared({ batch }, "otlp", encodeReceived(bytes), by),
      },
    ],
    resources: [],
  };
}

/** The whole batch of a plain request. */
function decodeOne(bytes: Buffer, mediaType: MediaType, limits: DecodeLimits): Batch {
  const body = decodeBody(bytes, mediaType, limits);
  if (body.path !== "otlp") throw new Error("A plain request is decoded to something else.");
  return body.groups[0]!.batch;
}

/** For batches created by the service; request bodies go through `prepareBody`. */
export function prepareBatch(
  sent: Batch,
  path: TracePath,
  by: IntakeBy = readByNothing,
  storing?: StoringRules | null,
): PreparedBatch {
  const redacted = redactedBy(BodyRedaction.by(storing), takerOf(by)(sent, path), by);
  return prepared(redacted, path, encodeBatch(redacted.batch), by);
}

/** `before`: what earlier rules redacted in the batch. */
export function redactedBy(
  redaction: BodyRedaction | null,
  batch: Batch,
  by: IntakeBy,
  before?: StoredRedactions,
): RedactedBatch {
  return redaction ? redaction.redact(batch, by, before) : { batch, ...kept(before) };
}

/** A batch that was prepared by other settings than its agent has now, or whose trace has been forgotten. */
export type PrepareAgain = {
  batch: Pick<PreparedBatch, "bytes" | "redactions">;
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
  const stored = readBatch(scan(batch.bytes), resource ? readResource(scan(resource)) : undefined);
  const kept = takerOf(by)(stored, path, isForgotten);
  const redacted = redactedBy(BodyRedaction.by(storing), kept, by, batch.redactions);
  const { batch: taken } = redacted;
  if (!resource || !taken.resource)
    return { batch: prepared(redacted, path, encodeBatch(taken), by), resource: null };
  const apart = encodeResource(taken.resource);
  const { bytes, rawLength } = encodeWithoutResource(taken, apart.hash);
  const encoded = { bytes, rawLength: rawLength + apart.rawLength };
  return { batch: prepared(redacted, path, encoded, by), resource: apart };
}

function prepared(
  { batch, redactions, found }: RedactedBatch,
  path: TracePath,
  { bytes, rawLength }: Encoded,
  by: IntakeBy,
): PreparedBatch {
  const { conventions, conventionRules, intake } = by;
  const readBy = { conventions, conventionRules };
  const read = (redacted: Batch) => {
    const { trace, reading } = readTraceBy(mergeBatches([redacted], path), readBy, undefined, "columns");
    return derive(trace, undefined, reading, "columns");
  };
  const derived = read(batch);
  const rules = Object.keys(redactions?.counts ?? {});
  return {
    spanCount: batch.spans.length,
    spanKeys: spanKeysOf(batch.spans),
    bytes,
    rawLength,
    columns: columnsOf(
      derived,
      rules,
      found && mayBeRedacted(rules, derived) ? readMarked(batch, found, derived, read) : null,
    ),
    readBy,
    ...(intake && { intake }),
    ...(batch.content && { content: batch.content }),
    ...(redactions && { redactions }),
  };
}

/** The spans that the texts are from usually give the same texts by themselves, and reading these costs a fraction of all. */
function readMarked(
  batch: Batch,
  found: Redaction[],
  derived: Derived,
  read: (batch: Batch) => Derived,
): Derived {
  const ids = new Set([derived.userInput?.spanId, derived.responseText?.spanId]);
  const spans = batch.spans.filter(({ span_id }) => ids.has(span_id));
  const part = read(markBatch({ ...batch, spans }, found));
  return saysTheSame(part, derived) ? part : read(markBatch(batch, found));
}

function agentOfHint(hint: PlatformHint | null, readers: Readers | null): IntakeBy {
  const id = readers?.only ?? (typeof hint?.value === "string" ? hint.value.toLowerCase() : null);
  return readers?.agents.find(({ agentId }) => agentId === id) ?? readByNothing;
}

function prepareGroups(groups: OtlpGroup[], bodyBytes: number, readers: Readers | null) {
  const agentOf = new Map<string | null, IntakeBy>(readers?.agents.map(agent => [agent.serviceName, agent]));
  takeInGroups(groups, agentOf);
  const redaction = BodyRedaction.by(readers?.storing);
  if (redaction) redactResources(groups, redaction);
  const shared = groups.length > 1 ? sharedResources(groups, bodyBytes) : new Map();
  const resources = [...shared.values()];
  const done: (PreparedGroup | RefusedGroup)[] = [];
  // Each group is dropped once it is prepared: decoded, a body takes many times the memory of its compressed batches.
  for (groups.reverse(); groups.length > 0; ) {
    const { serviceName, traceId, spanCount, batch: sent, refusal } = groups.pop()!;
    if (refusal || serviceName === null || traceId === null) {
      done.push({ serviceName, spanCount, refusal: refusal ?? new Refusal("OTLP_ID_INVALID") });
      continue;
    }
    const group = { serviceName, traceId, spanCount };
    const by = agentOf.get(serviceName) ?? readByNothing;
    const redacted = redactedBy(redaction, sent, by);
    const { batch } = redacted;
    const resource = batch.resource && shared.get(batch.resource);
    if (!resource) {
      done.push({ ...group, batch: prepared(redacted, "otlp", encodeBatch(batch), by), resource: null });
    } else {
      const { bytes, rawLength } = encodeWithoutResource(batch, resource.hash);
      const encoded = { bytes, rawLength: rawLength + resource.rawLength };
      done.push({
        ...group,
        batch: prepared(redacted, "otlp", encoded, by),
        resource: resources.indexOf(resource),
      });
    }
  }
  return { groups: done, resources };
}

/** Before anything else, so that groups which shared their resource share what is left of it. */
function takeInGroups(groups: OtlpGroup[], agentOf: Map<string | null, IntakeBy>): void {
  const takers = new Map<IntakeBy, ReturnType<typeof takerOf>>();
  for (const group of groups) {
    const by = agentOf.get(group.serviceName);
    if (!by?.intake || group.refusal) continue;
    const take = takers.get(by) ?? takerOf(by);
    takers.set(by, take);
    group.batch = take(group.batch, "otlp");
  }
}

/** Before they are shared: a resource that several groups have is redacted once, and stays one. */
function redactResources(groups: OtlpGroup[], redaction: BodyRedaction): void {
  for (const group of groups) {
    const { batch, refusal } = group;
    if (!refusal && batch.resource) group.batch = { ...batch, resource: redaction.resource(batch.resource) };
  }
}

/**
 * The resources to be stored once instead of with each of their traces: those of several traces, if their copies would
 * add more than the request's own size. A body of 1.3 MB with one resource and 3,000 traces would become 2.2 GB. Otherwise
 * each trace contains its resource, which costs less to write and to read.
 */
function sharedResources(groups: OtlpGroup[], bodyBytes: number): Map<Attributes, PreparedResource> {
  const uses = new Map<Attributes, number>();
  for (const { refusal, batch } of groups) {
    if (!refusal && batch.resource) uses.set(batch.resource, (uses.get(batch.resource) ?? 0) + 1);
  }
  const shared = new Map<Attributes, PreparedResource>();
  let copiedBytes = 0;
  for (const [resource, count] of uses) {
    if (count === 1) continue;
    const encoded = encodeResource(resource);
    copiedBytes += (count - 1) * encoded.rawLength;
    shared.set(resource, encoded);
  }
  return copiedBytes > bodyBytes ? shared : new Map();
}
