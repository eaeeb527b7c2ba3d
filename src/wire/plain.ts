// Reads an OTLP trace export as SDKs write it without decoding it: of its spans only what columns are derived from.

import { setOwn } from "../model/set-own.ts";
import { newSpan } from "../model/trace/new-span.ts";
import type { Span } from "../model/trace/trace.ts";
import { longTextAttributes } from "../reading/derived/column-attributes.ts";
import { isScopeOfConvention } from "../reading/presets.ts";
import { JsonWalk } from "./json-walk.ts";
import { BeyondLimits, type DecodeLimits } from "./limits.ts";
import type { MediaType } from "./media-type.ts";
import {
  event,
  type Field,
  resource,
  resourceSpans,
  scope,
  scopeSpans,
  span,
  status,
  traces,
} from "./otlp-fields.ts";
import { isOfMessages, KeySet, keyAt, serviceNameKey } from "./plain-keys.ts";
import { ProtobufWalk } from "./protobuf-walk.ts";
import { unusual } from "./unusual.ts";
import type { PlainWalk, Visitor } from "./visitor.ts";

/** The one trace of a request. `spans` have those attributes only that columns are derived from, and no events or links. */
export type PlainTrace = {
  serviceName: string;
  traceId: string;
  spans: Span[];
  /** Whether a convention with names of its own may recognize a span, or messages may be in events. */
  hasSigns: boolean;
};

/**
 * Sees all that could be redacted: attributes but for the service's name, messages of statuses and states of traces. False: the
 * request cannot stay as it arrived.
 */
export type PlainWatcher = {
  isCleanAttribute(key: string, value: unknown): boolean;
  isCleanText(text: string): boolean;
};

/**
 * Null for anything that is not as SDKs write it: several traces or resources, fields sent twice or unknown, ids that are not ids,
 * invalid bytes, or more than the limits allow; in JSON also for what is written in another way than JSON.stringify would, so that
 * a text or number stands in it as it would in the stored spans. `decodeBody` reads, or refuses, these. Of a plain request it reads
 * everything: no byte of it says what the decoded spans do not.
 */
export function readPlain(
  bytes: Buffer,
  mediaType: MediaType,
  limits: DecodeLimits,
  watcher: PlainWatcher | null = null,
): PlainTrace | null {
  const reading = new PlainReading(limits, watcher);
  try {
    if (mediaType === "protobuf") new ProtobufWalk(bytes, protobufLimits(limits), reading).walk(traces);
    else new JsonWalk(bytes, limits, reading).walk(traces);
    return reading.finish(bytes);
  } catch (error) {
    if (error === unusual || error instanceof BeyondLimits) return null;
    throw error;
  }
}

/** The decoder enters some messages more than once, and needs more of the stack. */
function protobufLimits(limits: DecodeLimits): DecodeLimits {
  const { nestingMax, elementsMax } = limits;
  return { ...limits, nestingMax: Math.min(20, nestingMax), elementsMax: Math.floor(elementsMax / 3) };
}

/** More are repeated with each span than counting its elements allows for. */
const scopeAttributesMax = 8;

/** Of the request that is being walked: one at a time. */
const keys = new KeySet();

class PlainReading implements Visitor<PlainWalk> {
  readonly isStrict = true;
  readonly #limits: DecodeLimits;
  readonly #watcher: PlainWatcher | null;
  readonly #spans: Span[] = [];
  readonly #spanIds = new Set<string>();
  #requests = 0;
  #serviceName = "";
  /** Of the spans that follow. */
  #scopeName = "";
  #scopeAttributes = 0;
  #hasSigns = false;
  #span = newSpan();
  #code = 0;
  /** The id of the trace: of the first span, and whether the current one has it. */
  #traceId = "";
  #traceIdAt = -1;
  #hasTraceId = false;
  /** How many spans there were before those of the current scope. */
  #before = 0;
  /** Bytes that the spans of the current scope share, and all spans; and those that each span is read with, in all. */
  #sharedInScope = 0;
  #shared = 0;
  #repeated = 0;

  constructor(limits: DecodeLimits, watcher: PlainWatcher | null) {
    this.#limits = limits;
    this.#watcher = watcher;
  }

  finish(bytes: Buffer): PlainTrace {
    const spans = this.#spans;
    const { spansMax, tracesMax } = this.#limits;
    if (spans.length === 0 || spans.length > spansMax || tracesMax < 1) throw unusual;
    if (this.#repeated > bytes.length || this.#serviceName === "") throw unusual;
    const [serviceName, traceId, hasSigns] = [this.#serviceName, this.#traceId, this.#hasSigns];
    return { serviceName, traceId, spans, hasSigns };
  }

  enter({ message }: Field): number {
    switch (message) {
      case resourceSpans:
        if (++this.#requests > 1) throw unusual;
        return 0;
      case scopeSpans:
        this.#scopeName = "";
        this.#scopeAttributes = 0;
        this.#sharedInScope = 0;
        this.#before = this.#spans.length;
        return 0;
      case span:
        this.#span = newSpan();
        this.#hasTraceId = false;
        if (this.#scopeName !== "") this.#span.scope = { name: this.#scopeName };
        return keys.clear();
      case scope:
        // Spans need it.
        if (this.#spans.length > this.#before) throw unusual;
        return keys.clear();
      case resource:
        return keys.clear();
      case status:
        this.#code = 0;
        return 0;
      default:
        return keys.owner();
    }
  }

  described(): void {}

  leave({ message }: Field, bytes: number): void {
    switch (message) {
      case resourceSpans:
        this.#repeated += this.#shared * this.#spans.length;
        return;
      case scopeSpans:
        this.#repeated += this.#sharedInScope * (this.#spans.length - this.#before);
        return;
      case scope:
        this.#sharedInScope += bytes;
        return;
      case status:
        this.#span.status = this.#code === 0 ? null : { code: this.#code };
        return;
      case span: {
        const { span_id } = this.#span;
        if (!this.#hasTraceId || span_id === "" || this.#spanIds.has(span_id)) throw unusual;
        this.#spanIds.add(span_id);
        this.#spans.push(this.#span);
      }
    }
  }

  scalar(field: Field, walk: PlainWalk): void {
    switch (field) {
      case span.of.traceId:
        this.#sameTrace(walk);
        return;
      case span.of.spanId:
        this.#span.span_id = idOf(walk);
        return;
      case span.of.parentSpanId:
        if (walk.to > walk.from) this.#span.parent_span_id = idOf(walk);
        return;
      case span.of.name:
        this.#span.name = walk.text();
        return;
      case span.of.startTimeUnixNano:
        this.#span.start_time_unix_nano = walk.time();
        return;
      case span.of.endTimeUnixNano:
        this.#span.end_time_unix_nano = walk.time();
        return;
      case status.of.code:
        this.#code = walk.number | 0;
        return;
      case scope.of.name:
        this.#scopeName = walk.text();
        this.#hasSigns ||= isScopeOfConvention(this.#scopeName);
        return;
      case scopeSpans.of.schemaUrl:
        this.#sharedInScope += walk.to - walk.from;
        return;
      case resourceSpans.of.schemaUrl:
        this.#shared += walk.to - walk.from;
        return;
      case event.of.name:
        this.#hasSigns ||= isOfMessages(walk.bytes, walk.from, walk.to);
        return;
    }
    // Of links: an invalid one is not stored.
    if (field.kind === "id" && !walk.isId(field.name === "traceId" ? 16 : 8)) throw unusual;
    if (field.isRedacted && this.#watcher && !this.#watcher.isCleanText(walk.text())) throw unusual;
  }

  #sameTrace(walk: PlainWalk): void {
    const { bytes, from, to } = walk;
    if (!walk.isId(16)) throw unusual;
    this.#hasTraceId = true;
    if (this.#traceIdAt === -1) {
      this.#traceIdAt = from;
      this.#traceId = walk.id();
    }
    for (let i = to - from - 1; i >= 0; i--)
      if (bytes[from + i] !== bytes[this.#traceIdAt + i]) throw unusual;
  }

  attribute(field: Field, walk: PlainWalk, end: number, owner: number): void {
    walk.checkAttribute(keys, owner, end);
    const isOfResource = field === resource.of.attributes;
    if (field === scope.of.attributes && ++this.#scopeAttributes > scopeAttributesMax) throw unusual;
    const isOfSpan = field === span.of.attributes;
    const watcher = this.#watcher;
    if (!isOfSpan && !isOfResource && !watcher) return;
    const known = keyAt(walk.bytes, walk.keyFrom, walk.keyTo, walk.keyHash);
    if (isOfResource && known.key === serviceNameKey) {
      // Another type is read as text, which names no service.
      if (!walk.isText) throw unusual;
      this.#serviceName = walk.text();
      return;
    }
    // A key with escapes is one that no convention has, or is read as one with signs.
    if (isOfSpan) this.#hasSigns ||= walk.isKeyEscaped || known.isSign;
    const key = walk.isKeyEscaped ? (JSON.parse(`"${known.key}"`) as string) : known.key;
    const target = isOfSpan && known.isRead ? this.#span.attributes : null;
    if (watcher) {
      const value = walk.attributeValue();
      if (!watcher.isCleanAttribute(key, value)) throw unusual;
      if (target) setOwn(target, key, value);
    } else if (target) {
      const isLong = walk.isText && longTextAttributes.has(key);
      setOwn(target, key, isLong ? walk.unreadText() : walk.attributeValue());
    }
  }

  /** Of log records, which are never plain. */
  value(): void {
    throw unusual;
  }
}

function idOf(walk: PlainWalk): string {
  if (!walk.isId(8)) throw unusual;
  return walk.id();
}
