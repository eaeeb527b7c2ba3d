// Prepares the traces of an OTLP request, each on its own but for the resources that they share.
import { readByNothing } from "../model/agent/read-by.ts";
import { Refusal } from "../model/refusal.ts";
import type { Attributes } from "../model/trace/trace.ts";
import { type Encoded, encodeBatch, encodeResource, encodeWithoutResource } from "../wire/batch.ts";
import type { OtlpGroup } from "../wire/otlp-groups.ts";
import { type IntakeBy, takerOf } from "./intake.ts";
import { type PreparedBatch, prepared } from "./prepared.ts";
import type { Readers } from "./readers.ts";
import { BodyRedaction } from "./redaction.ts";

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

/** A resource that several traces of a request share. The hash is that of its JSON, hexadecimal. */
export type PreparedResource = Encoded & { hash: string };

export function prepareGroups(groups: OtlpGroup[], bodyBytes: number, readers: Readers | null) {
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
    const batch = redaction?.redact(sent, by) ?? sent;
    const resource = batch.resource && shared.get(batch.resource);
    if (!resource) {
      done.push({ ...group, batch: prepared(batch, "otlp", encodeBatch(batch), by), resource: null });
    } else {
      const { bytes, rawLength } = encodeWithoutResource(batch, resource.hash);
      const encoded = { bytes, rawLength: rawLength + resource.rawLength };
      done.push({
        ...group,
        batch: prepared(batch, "otlp", encoded, by),
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
