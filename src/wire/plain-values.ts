// Walks the attributes of a plain OTLP request: checks them, and decodes those that columns are derived from.
import { setOwn } from "../model/set-own.ts";
import type { Attributes } from "../model/trace/trace.ts";
import { UnreadText } from "../model/trace/unread-text.ts";
import { longTextAttributes } from "../reading/derived/column-attributes.ts";
import type { DecodeLimits } from "./limits.ts";
import { readAnyValue } from "./otlp-protobuf-value.ts";
import { type PlainCursor, unusual } from "./plain-cursor.ts";
import { hashOf, isSignAt, KeySet, keyAt, listedAt, serviceNameKey } from "./plain-keys.ts";
import type { PlainWatcher } from "./plain-trace.ts";
import { ProtobufWalk } from "./protobuf-walk.ts";

const depthMax = 20;

/** Of the request that is being walked: one at a time. */
const keySet = new KeySet();

export class PlainValues {
  readonly #bytes: Buffer;
  readonly #cursor: PlainCursor;
  readonly #nestingMax: number;
  readonly #walk: ProtobufWalk;
  readonly #keys = keySet;
  /** How many were entered. */
  messages = 0;
  /** Whether an attribute of a span may be the sign of a convention. */
  hasSigns = false;
  readonly #watcher: PlainWatcher | null;
  /** The last key, its hash, and where its value stands; -1 if it has none. */
  #keyFrom = 0;
  #keyTo = 0;
  #keyHash = 0;
  #valueAt = -1;
  /** Whether the last value is a text, and where. */
  #wasText = false;
  #textFrom = 0;
  #textTo = 0;

  constructor(bytes: Buffer, cursor: PlainCursor, limits: DecodeLimits, watcher: PlainWatcher | null) {
    this.#watcher = watcher;
    this.#bytes = bytes;
    this.#cursor = cursor;
    this.#nestingMax = Math.min(depthMax, limits.nestingMax);
    this.#walk = new ProtobufWalk(bytes, { ...limits, elementsMax: Number.POSITIVE_INFINITY });
  }

  /** Returns the number of the attributes of a span, whose other objects follow. */
  newSpan(): number {
    return this.#keys.clear();
  }

  /** Returns the number of an object whose keys differ from each other. */
  newObject(): number {
    return this.#keys.owner();
  }

  /** Returns the end of the message that begins here. `depth`: of the message. */
  enter(outerEnd: number, depth: number): number {
    this.messages++;
    if (depth > this.#nestingMax) throw unusual;
    return this.#cursor.sized(outerEnd);
  }

  /**
   * An attribute of the resource, a scope, a span, an event or a link. Set in `target` if it is a listed one. `isOfResource`:
   * that is for the service's name, which must be a text.
   */
  attribute(
    outerEnd: number,
    owner: number,
    depth: number,
    target: Attributes | null,
    isOfResource = false,
  ): void {
    this.#keyValue(outerEnd, owner, depth);
    const watcher = this.#watcher;
    if (!target && !watcher) return;
    const [from, to] = [this.#keyFrom, this.#keyTo];
    if (target && !isOfResource && !this.hasSigns)
      this.hasSigns = isSignAt(this.#bytes, from, to, this.#keyHash);
    const listed = target && listedAt(this.#bytes, from, to, this.#keyHash);
    const isName = isOfResource && listed === serviceNameKey;
    // Other types are read as text, which is no name.
    if (isName && !this.#wasText) throw unusual;
    const key = watcher && !isName ? keyAt(this.#bytes, from, to, this.#keyHash) : "";
    if (!watcher || isName || this.#isSeenClean(watcher, key)) {
      if (listed) setOwn(target!, listed, longTextAttributes.has(listed) ? this.#later() : this.#decode());
      return;
    }
    const value = this.#decode();
    if (!watcher.isCleanAttribute(key, value)) throw unusual;
    if (listed) setOwn(target!, listed, value);
  }

  #isSeenClean(watcher: PlainWatcher, key: string): boolean {
    return this.#wasText && watcher.isSeenClean(key, this.#bytes, this.#textFrom, this.#textTo);
  }

  #keyValue(outerEnd: number, owner: number, depth: number): void {
    const cursor = this.#cursor;
    const end = this.enter(outerEnd, depth);
    // An empty key is left out.
    let keyTo = cursor.at;
    if (cursor.at < end && this.#bytes[cursor.at] === 0x0a) {
      cursor.at++;
      keyTo = cursor.sized(end);
    }
    const keyFrom = cursor.at;
    const keyHash = hashOf(this.#bytes, keyFrom, keyTo);
    this.#keys.add(owner, keyHash);
    cursor.at = keyTo;
    this.#wasText = false;
    let valueAt = -1;
    if (cursor.at < end) {
      if (cursor.tag() !== 0x12) throw unusual;
      valueAt = cursor.at;
      this.#anyValue(this.enter(end, depth + 1), depth + 1);
    }
    cursor.leave(end);
    // Those of items are known no more.
    this.#keyFrom = keyFrom;
    this.#keyTo = keyTo;
    this.#keyHash = keyHash;
    this.#valueAt = valueAt;
  }

  #anyValue(end: number, depth: number): void {
    const cursor = this.#cursor;
    if (cursor.at === end) return;
    const tag = cursor.tag();
    switch (tag) {
      case 0x0a:
      case 0x3a:
        this.#textTo = cursor.sized(end);
        this.#textFrom = cursor.at;
        cursor.at = this.#textTo;
        break;
      case 0x10:
        cursor.digit();
        break;
      case 0x18:
        cursor.skipInt64();
        break;
      case 0x21:
        cursor.at += 8;
        break;
      case 0x2a:
      case 0x32:
        this.#items(tag, this.enter(end, depth + 1), depth + 1);
        break;
      default:
        throw unusual;
    }
    cursor.leave(end);
    this.#wasText = tag === 0x0a;
  }

  #items(tag: number, end: number, depth: number): void {
    const cursor = this.#cursor;
    const owner = this.newObject();
    while (cursor.at < end) {
      if (cursor.tag() !== 0x0a) throw unusual;
      if (tag === 0x32) this.#keyValue(end, owner, depth + 1);
      else this.#anyValue(this.enter(end, depth + 1), depth + 1);
    }
    cursor.leave(end);
  }

  #later(): unknown {
    if (!this.#wasText) return this.#decode();
    const [from, to] = [this.#textFrom, this.#textTo];
    const bytes = this.#bytes;
    return new UnreadText(
      () => bytes.toString("utf8", from, to),
      () => bytes.toString("latin1", from, to),
    );
  }

  /** The last value, as any other request is decoded. */
  #decode(): unknown {
    if (this.#wasText) return this.#bytes.toString("utf8", this.#textFrom, this.#textTo);
    if (this.#valueAt === -1) return null;
    this.#walk.rewind(this.#valueAt);
    return readAnyValue(this.#walk);
  }
}
