// Drops attributes by the keys that an agent denies or allows.

import { isRecord } from "../record.ts";
import { type Attributes, type Batch, type LogRecord, observedMark, type Span } from "../trace/trace.ts";

/**
 * Keys of attributes; one that ends in `*` stands for all that begin like it. `deny` goes before `allow`; `allow` null:
 * all that are not denied.
 */
export type AttributeRules = { deny: string[]; allow: string[] | null };

/** Never dropped: `service.name` names the agent, and the service itself marks the traces that it makes. */
const untouched = new Set(["service.name", observedMark, "svc.run.id", "svc.run.turn"]);

/**
 * Leaves of batches the attributes that the rules keep: of spans, events, links, resources, scopes and log records, and the
 * first keys of `metadata`. Batches that shared a resource share what is left of it.
 */
export function attributeFilter({ deny, allow }: AttributeRules): (batch: Batch) => Batch {
  if (deny.length === 0 && allow === null) return batch => batch;
  const keeps = keeperOf({ deny, allow });
  const kept = (attributes: Attributes) => filter(attributes, keeps);
  const resources = new Map<Attributes, Attributes>();
  const ofResource = (resource: Attributes) => {
    const left = resources.get(resource) ?? kept(resource);
    resources.set(resource, left);
    return left;
  };
  return batch => {
    const { logRecords } = batch;
    return {
      ...batch,
      spans: batch.spans.map(span => keptSpan(span, kept, ofResource)),
      resource: batch.resource && ofResource(batch.resource),
      metadata: batch.metadata && kept(batch.metadata),
      ...(logRecords && {
        logRecords: { ...logRecords, records: logRecords.records.map(record => keptRecord(record, kept)) },
      }),
    };
  };
}

type Kept = (attributes: Attributes) => Attributes;

function keptSpan(span: Span, kept: Kept, ofResource: Kept): Span {
  const { scope, resource, links } = span;
  return {
    ...span,
    attributes: kept(span.attributes),
    events: span.events.map(event => keptEntry(event, kept)),
    ...(links && { links: links.map(link => keptEntry(link, kept)) }),
    ...(scope?.attributes && { scope: { ...scope, attributes: kept(scope.attributes) } }),
    ...(resource && { resource: ofResource(resource) }),
  };
}

/** Of an event or a link. */
function keptEntry(entry: unknown, kept: Kept): unknown {
  if (!isRecord(entry) || !isRecord(entry["attributes"])) return entry;
  return { ...entry, attributes: kept(entry["attributes"]) };
}

function keptRecord(record: LogRecord, kept: Kept): LogRecord {
  return { ...record, attributes: kept(record.attributes) };
}

function filter(attributes: Attributes, keeps: (key: string) => boolean): Attributes {
  const keys = Object.keys(attributes);
  if (keys.every(keeps)) return attributes;
  return Object.fromEntries(keys.filter(keeps).map(key => [key, attributes[key]]));
}

/** Remembers its answers: a batch has few keys, many times. */
function keeperOf({ deny, allow }: AttributeRules): (key: string) => boolean {
  const isDenied = matcherOf(deny);
  const isAllowed = allow && matcherOf(allow);
  const known = new Map<string, boolean>();
  return key => {
    let keeps = known.get(key);
    if (keeps === undefined) {
      keeps = untouched.has(key) || (!isDenied(key) && (isAllowed === null || isAllowed(key)));
      if (known.size < knownMax) known.set(key, keeps);
    }
    return keeps;
  };
}

const knownMax = 10_000;

function matcherOf(patterns: string[]): (key: string) => boolean {
  const exact = new Set(patterns.filter(pattern => !pattern.endsWith("*")));
  const starts = patterns.filter(pattern => pattern.endsWith("*")).map(pattern => pattern.slice(0, -1));
  return key => exact.has(key) || starts.some(start => key.startsWith(start));
}
