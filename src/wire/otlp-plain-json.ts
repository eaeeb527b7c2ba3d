// Walks an OTLP trace export in JSON as SDKs write it, and reads of its spans only what columns are derived from.
import { isUtf8 } from "node:buffer";
import { newSpan } from "../model/trace/new-span.ts";
import type { Attributes, Span } from "../model/trace/trace.ts";
import { isScopeOfConvention } from "../reading/presets.ts";
import type { DecodeLimits } from "./limits.ts";
import { unusual } from "./plain-cursor.ts";
import { JsonCursor, Names, once, token } from "./plain-json.ts";
import { JsonValues } from "./plain-json-values.ts";
import { isOfMessages, serviceNameKey } from "./plain-keys.ts";
import type { PlainTrace, PlainWatcher } from "./plain-trace.ts";

/** How a request begins that is stored as it arrived, and no other batch. */
export const plainJsonBegin = token('{"resourceSpans":');
const plainJsonEnd = token("}");

/**
 * As `readPlain`, for JSON: null for anything that is not as SDKs write it, and for what is written in another way than
 * JSON.stringify would. So a text or number of a plain request stands in it as it would in the stored spans.
 */
export function readPlainJson(
  bytes: Buffer,
  limits: DecodeLimits,
  watcher: PlainWatcher | null = null,
): PlainTrace | null {
  try {
    return new PlainJsonRequest(bytes, limits, watcher).read();
  } catch (error) {
    if (error === unusual) return null;
    throw error;
  }
}

/** Depth of the deepest attributes of an event or link, without what is in lists. */
const depthMin = 12;
/** More are repeated with each span than counting its elements allows for. */
const scopeAttributesMax = 8;

const inResourceSpans = new Names("resource", "scopeSpans", "schemaUrl");
const inResource = new Names("attributes", "droppedAttributesCount");
const inScopeSpans = new Names("scope", "spans", "schemaUrl");
const inScope = new Names("name", "version", "attributes", "droppedAttributesCount");
const inSpan = new Names(
  ...["traceId", "spanId", "parentSpanId", "name", "startTimeUnixNano", "endTimeUnixNano"],
  ...["attributes", "events", "links", "status", "traceState"],
  ...["kind", "flags", "droppedAttributesCount", "droppedEventsCount", "droppedLinksCount"],
);
const inStatus = new Names("code", "message");
const inEvent = new Names("name", "timeUnixNano", "attributes", "droppedAttributesCount");
const inLink = new Names("traceId", "spanId", "traceState", "attributes", "flags", "droppedAttributesCount");

class PlainJsonRequest {
  readonly #bytes: Buffer;
  readonly #limits: DecodeLimits;
  readonly #watcher: PlainWatcher | null;
  readonly #cursor: JsonCursor;
  readonly #values: JsonValues;
  readonly #spans: Span[] = [];
  readonly #spanIds = new Set<string>();
  #serviceName = "";
  /** Of the spans that follow. */
  #scopeName = "";
  #hasScopes = false;
  /** Whether an event may have messages. */
  #hasMessages = false;
  /** Where the id of the first span's trace is. */
  #traceIdAt = -1;
  /** Bytes that spans share, and that each of them is read with. */
  #repeated = 0;

  constructor(bytes: Buffer, limits: DecodeLimits, watcher: PlainWatcher | null) {
    this.#bytes = bytes;
    this.#limits = limits;
    this.#watcher = watcher;
    this.#cursor = new JsonCursor(bytes);
    this.#values = new JsonValues(bytes, this.#cursor, limits.nestingMax, watcher);
  }

  read(): PlainTrace {
    const cursor = this.#cursor;
    const bytes = this.#bytes;
    const { spansMax, elementsMax, tracesMax, nestingMax } = this.#limits;
    cursor.skip(plainJsonBegin);
    if (nestingMax < depthMin || tracesMax < 1 || !isUtf8(bytes)) throw unusual;
    cursor.open("[");
    if (!cursor.more("]")) throw unusual;
    this.#resourceSpans();
    if (cursor.more("]")) throw unusual;
    cursor.skip(plainJsonEnd);
    if (cursor.at !== bytes.length) throw unusual;
    const spans = this.#spans;
    if (spans.length === 0 || spans.length > spansMax || this.#repeated > bytes.length) throw unusual;
    // With the object around them all.
    if (cursor.elements + 1 > elementsMax || this.#serviceName === "") throw unusual;
    const traceId = bytes.toString("latin1", this.#traceIdAt, this.#traceIdAt + 32);
    const hasSigns = this.#values.hasSigns || this.#hasScopes || this.#hasMessages;
    return { serviceName: this.#serviceName, traceId, spans, hasSigns };
  }

  #resourceSpans(): void {
    const cursor = this.#cursor;
    let seen = 0;
    let shared = 0;
    cursor.open("{");
    while (cursor.more("}")) {
      const field = cursor.field(inResourceSpans);
      seen = once(seen, field);
      if (field === 0) this.#resource();
      else if (field === 1) {
        cursor.open("[");
        while (cursor.more("]")) this.#scopeSpans();
      } else shared = this.#textLength();
    }
    this.#repeated += shared * this.#spans.length;
  }

  #textLength(): number {
    this.#cursor.text();
    return this.#cursor.to - this.#cursor.from;
  }

  #resource(): void {
    const cursor = this.#cursor;
    let seen = 0;
    cursor.open("{");
    while (cursor.more("}")) {
      const field = cursor.field(inResource);
      seen = once(seen, field);
      if (field === 0) {
        this.#values.newSpan();
        const service: Attributes = {};
        this.#values.attributes(5, service, true);
        const name = service[serviceNameKey];
        if (typeof name === "string") this.#serviceName = name;
      } else cursor.count();
    }
  }

  #scopeSpans(): void {
    const cursor = this.#cursor;
    const before = this.#spans.length;
    this.#scopeName = "";
    let seen = 0;
    let shared = 0;
    cursor.open("{");
    while (cursor.more("}")) {
      const field = cursor.field(inScopeSpans);
      seen = once(seen, field);
      if (field === 0) {
        const from = cursor.at;
        this.#scope();
        shared += cursor.at - from;
      } else if (field === 1) {
        cursor.open("[");
        while (cursor.more("]")) this.#span();
      } else shared += this.#textLength();
    }
    this.#repeated += shared * (this.#spans.length - before);
  }

  #scope(): void {
    const cursor = this.#cursor;
    let seen = 0;
    cursor.open("{");
    while (cursor.more("}")) {
      const field = cursor.field(inScope);
      seen = once(seen, field);
      if (field < 2) cursor.text();
      if (field === 0) {
        this.#scopeName = cursor.read();
        this.#hasScopes ||= isScopeOfConvention(this.#scopeName);
      } else if (field === 1) continue;
      else if (field === 2) {
        this.#values.newSpan();
        if (this.#values.attributes(7, null) > scopeAttributesMax) throw unusual;
      } else cursor.count();
    }
  }

  #span(): void {
    const cursor = this.#cursor;
    this.#values.newSpan();
    const span = newSpan();
    if (this.#scopeName !== "") span.scope = { name: this.#scopeName };
    let seen = 0;
    cursor.open("{");
    while (cursor.more("}")) {
      const field = cursor.field(inSpan);
      seen = once(seen, field);
      this.#spanField(field, span);
    }
    if ((seen & 1) === 0 || span.span_id === "" || this.#spanIds.has(span.span_id)) throw unusual;
    this.#spanIds.add(span.span_id);
    this.#spans.push(span);
  }

  #spanField(field: number, span: Span): void {
    const cursor = this.#cursor;
    switch (field) {
      case 0:
        this.#sameTrace();
        return;
      case 1:
        span.span_id = this.#id(16);
        return;
      case 2:
        if (!cursor.emptyText()) span.parent_span_id = this.#id(16);
        return;
      case 3:
        cursor.text();
        span.name = cursor.read();
        return;
      case 4:
        span.start_time_unix_nano = cursor.time();
        return;
      case 5:
        span.end_time_unix_nano = cursor.time();
        return;
      case 6:
        this.#values.attributes(8, span.attributes);
        return;
      case 7:
        cursor.open("[");
        while (cursor.more("]")) this.#event();
        return;
      case 8:
        cursor.open("[");
        while (cursor.more("]")) this.#link();
        return;
      case 9:
        span.status = this.#status();
        return;
      case 10:
        this.#text();
        return;
      default:
        cursor.count();
    }
  }

  /** One that could be redacted. */
  #text(): void {
    this.#cursor.text();
    if (this.#watcher && !this.#watcher.isCleanText(this.#cursor.read())) throw unusual;
  }

  #id(digits: number): string {
    this.#cursor.id(digits);
    return this.#cursor.read();
  }

  #sameTrace(): void {
    const bytes = this.#bytes;
    this.#cursor.id(32);
    const { from } = this.#cursor;
    if (this.#traceIdAt === -1) this.#traceIdAt = from;
    for (let i = 0; i < 32; i++) if (bytes[from + i] !== bytes[this.#traceIdAt + i]) throw unusual;
  }

  #status(): Span["status"] {
    const cursor = this.#cursor;
    let seen = 0;
    let code = 0;
    cursor.open("{");
    while (cursor.more("}")) {
      const field = cursor.field(inStatus);
      seen = once(seen, field);
      if (field === 0) code = cursor.count();
      else this.#text();
    }
    return code === 0 ? null : { code };
  }

  #event(): void {
    const cursor = this.#cursor;
    let seen = 0;
    cursor.open("{");
    while (cursor.more("}")) {
      const field = cursor.field(inEvent);
      seen = once(seen, field);
      if (field === 0) this.#eventName();
      else if (field === 1) cursor.time();
      else if (field === 2) this.#values.attributes(10, null);
      else cursor.count();
    }
  }

  #eventName(): void {
    const cursor = this.#cursor;
    cursor.text();
    this.#hasMessages ||= isOfMessages(this.#bytes, cursor.from, cursor.to);
  }

  #link(): void {
    const cursor = this.#cursor;
    let seen = 0;
    cursor.open("{");
    while (cursor.more("}")) {
      const field = cursor.field(inLink);
      seen = once(seen, field);
      if (field === 0) cursor.id(32);
      else if (field === 1) cursor.id(16);
      else if (field === 2) this.#text();
      else if (field === 3) this.#values.attributes(10, null);
      else cursor.count();
    }
  }
}
