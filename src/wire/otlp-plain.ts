// Walks an OTLP trace export in protobuf as SDKs write it, and reads of its spans only what columns are derived from.
import { newSpan } from "../model/trace/new-span.ts";
import type { Attributes, Span } from "../model/trace/trace.ts";
import { isScopeOfConvention } from "../reading/presets.ts";
import type { DecodeLimits } from "./limits.ts";
import { PlainCursor, unusual } from "./plain-cursor.ts";
import { isOfMessages, serviceNameKey } from "./plain-keys.ts";
import type { PlainTrace, PlainWatcher } from "./plain-trace.ts";
import { PlainValues } from "./plain-values.ts";

/**
 * Null for anything that is not as SDKs write it: several traces or resources, fields in another order, sent twice or
 * unknown, ids that are not ids, invalid protobuf, or more than the limits allow. `readOtlpProtobuf` reads, or refuses,
 * these. Of a plain request it reads everything: no byte of it says what the decoded spans do not.
 */
export function readPlain(
  bytes: Buffer,
  limits: DecodeLimits,
  watcher: PlainWatcher | null = null,
): PlainTrace | null {
  try {
    return new PlainRequest(bytes, limits, watcher).read();
  } catch (error) {
    if (error === unusual) return null;
    throw error;
  }
}

// The decoder enters some messages more than once.
const passes = 3;

class PlainRequest {
  readonly #bytes: Buffer;
  readonly #limits: DecodeLimits;
  readonly #watcher: PlainWatcher | null;
  readonly #cursor: PlainCursor;
  readonly #values: PlainValues;
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
    this.#cursor = new PlainCursor(bytes);
    this.#values = new PlainValues(bytes, this.#cursor, limits, watcher);
  }

  read(): PlainTrace {
    const cursor = this.#cursor;
    if (cursor.tag() !== 0x0a) throw unusual;
    const end = this.#values.enter(this.#bytes.length, 1);
    if (end !== this.#bytes.length) throw unusual;
    this.#resourceSpans(end);
    const { spansMax, elementsMax, tracesMax } = this.#limits;
    const spans = this.#spans;
    if (spans.length === 0 || spans.length > spansMax || tracesMax < 1) throw unusual;
    if (this.#values.messages * passes > elementsMax || this.#repeated > this.#bytes.length) throw unusual;
    if (this.#serviceName === "") throw unusual;
    return {
      serviceName: this.#serviceName,
      traceId: cursor.hex(this.#traceIdAt, 16),
      spans,
      hasSigns: this.#hasSigns(),
    };
  }

  #hasSigns(): boolean {
    return this.#values.hasSigns || this.#hasScopes || this.#hasMessages;
  }

  #resourceSpans(end: number): void {
    const cursor = this.#cursor;
    const seen = cursor.seen();
    let schemaUrlBytes = 0;
    while (cursor.at < end) {
      const tag = cursor.tag();
      if (tag === 0x12) this.#scopeSpans(this.#values.enter(end, 2));
      else {
        seen.once(tag);
        if (tag === 0x0a && this.#spans.length === 0) this.#resource(this.#values.enter(end, 2));
        else if (tag === 0x1a) schemaUrlBytes = cursor.skipSized(end);
        else throw unusual;
      }
    }
    this.#repeated += schemaUrlBytes * this.#spans.length;
    cursor.leave(end);
  }

  #resource(end: number): void {
    const cursor = this.#cursor;
    const seen = cursor.seen();
    const owner = this.#values.newSpan();
    const service: Attributes = {};
    while (cursor.at < end) {
      const tag = cursor.tag();
      if (tag === 0x0a) this.#values.attribute(end, owner, 3, service, true);
      else {
        seen.once(tag);
        if (tag === 0x10) cursor.skipUint32();
        else throw unusual;
      }
    }
    cursor.leave(end);
    const name = service[serviceNameKey];
    if (typeof name === "string") this.#serviceName = name;
  }

  #scopeSpans(end: number): void {
    const cursor = this.#cursor;
    const seen = cursor.seen();
    const before = this.#spans.length;
    this.#scopeName = "";
    let shared = 0;
    while (cursor.at < end) {
      const tag = cursor.tag();
      if (tag === 0x12) this.#span(this.#values.enter(end, 3));
      else {
        seen.once(tag);
        if (tag === 0x0a && this.#spans.length === before) {
          const scopeEnd = this.#values.enter(end, 3);
          shared += scopeEnd - cursor.at;
          this.#scope(scopeEnd);
        } else if (tag === 0x1a) shared += cursor.skipSized(end);
        else throw unusual;
      }
    }
    this.#repeated += shared * (this.#spans.length - before);
    cursor.leave(end);
  }

  #scope(end: number): void {
    const cursor = this.#cursor;
    const seen = cursor.seen();
    const owner = this.#values.newSpan();
    while (cursor.at < end) {
      const tag = cursor.tag();
      if (tag === 0x1a) this.#values.attribute(end, owner, 4, null);
      else {
        seen.once(tag);
        if (tag === 0x0a) {
          const to = cursor.sized(end);
          this.#scopeName = this.#bytes.toString("utf8", cursor.at, to);
          this.#hasScopes ||= isScopeOfConvention(this.#scopeName);
          cursor.at = to;
        } else if (tag === 0x12) cursor.skipSized(end);
        else if (tag === 0x20) cursor.skipUint32();
        else throw unusual;
      }
    }
    cursor.leave(end);
  }

  #span(end: number): void {
    const cursor = this.#cursor;
    const seen = cursor.seen();
    const owner = this.#values.newSpan();
    const span = newSpan();
    if (this.#scopeName !== "") span.scope = { name: this.#scopeName };
    while (cursor.at < end) {
      const tag = cursor.tag();
      if (tag === 0x4a) this.#values.attribute(end, owner, 4, span.attributes);
      else if (tag === 0x5a) this.#event(this.#values.enter(end, 4));
      else if (tag === 0x6a) this.#link(this.#values.enter(end, 4));
      else {
        seen.once(tag);
        this.#spanField(tag, end, span);
      }
    }
    cursor.leave(end);
    if (!seen.has(0x0a) || span.span_id === "" || this.#spanIds.has(span.span_id)) throw unusual;
    this.#spanIds.add(span.span_id);
    this.#spans.push(span);
  }

  #spanField(tag: number, end: number, span: Span): void {
    const cursor = this.#cursor;
    switch (tag) {
      case 0x0a:
        this.#sameTrace(cursor.id(16, end));
        return;
      case 0x12:
        span.span_id = cursor.hex(cursor.id(8, end), 8);
        return;
      case 0x1a:
        this.#text(end);
        return;
      case 0x22:
        if (this.#bytes[cursor.at] === 0) cursor.at++;
        else span.parent_span_id = cursor.hex(cursor.id(8, end), 8);
        return;
      case 0x2a: {
        const nameEnd = cursor.sized(end);
        span.name = cursor.text(nameEnd);
        return;
      }
      case 0x39:
        span.start_time_unix_nano = cursor.time();
        return;
      case 0x41:
        span.end_time_unix_nano = cursor.time();
        return;
      case 0x30:
      case 0x50:
      case 0x60:
      case 0x70:
        cursor.skipUint32();
        return;
      case 0x7a:
        span.status = this.#status(this.#values.enter(end, 4));
        return;
      case 0x85:
        // The second byte of the tag.
        if (this.#bytes[cursor.at++] !== 1) throw unusual;
        cursor.at += 4;
        return;
      default:
        throw unusual;
    }
  }

  /** One that could be redacted. */
  #text(end: number): void {
    const cursor = this.#cursor;
    const textEnd = cursor.sized(end);
    if (!this.#watcher) cursor.at = textEnd;
    else if (!this.#watcher.isCleanText(cursor.text(textEnd))) throw unusual;
  }

  #sameTrace(at: number): void {
    const bytes = this.#bytes;
    if (this.#traceIdAt === -1) this.#traceIdAt = at;
    for (let i = 0; i < 16; i++) if (bytes[at + i] !== bytes[this.#traceIdAt + i]) throw unusual;
  }

  #status(end: number): Span["status"] {
    const cursor = this.#cursor;
    const seen = cursor.seen();
    let code = 0;
    while (cursor.at < end) {
      const tag = cursor.tag();
      seen.once(tag);
      if (tag === 0x12) this.#text(end);
      else if (tag === 0x18) code = cursor.digit();
      else throw unusual;
    }
    cursor.leave(end);
    return code === 0 ? null : { code };
  }

  #event(end: number): void {
    const cursor = this.#cursor;
    const seen = cursor.seen();
    const owner = this.#values.newObject();
    while (cursor.at < end) {
      const tag = cursor.tag();
      if (tag === 0x1a) this.#values.attribute(end, owner, 5, null);
      else {
        seen.once(tag);
        if (tag === 0x09) cursor.at += 8;
        else if (tag === 0x12) {
          const to = cursor.sized(end);
          this.#hasMessages ||= isOfMessages(this.#bytes, cursor.at, to);
          cursor.at = to;
        } else if (tag === 0x20) cursor.skipUint32();
        else throw unusual;
      }
    }
    cursor.leave(end);
  }

  #link(end: number): void {
    const cursor = this.#cursor;
    const seen = cursor.seen();
    const owner = this.#values.newObject();
    while (cursor.at < end) {
      const tag = cursor.tag();
      if (tag === 0x22) this.#values.attribute(end, owner, 5, null);
      else {
        seen.once(tag);
        if (tag === 0x0a) cursor.id(16, end);
        else if (tag === 0x12) cursor.id(8, end);
        else if (tag === 0x1a) this.#text(end);
        else if (tag === 0x28) cursor.skipUint32();
        else if (tag === 0x35) cursor.at += 4;
        else throw unusual;
      }
    }
    cursor.leave(end);
  }
}
