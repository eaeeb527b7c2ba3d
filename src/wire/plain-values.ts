// Walks the attributes of a plain OTLP request: checks them, and decodes those that columns are derived from.
import { longTextAttributes } from "../model/trace/column-attributes.ts";
import type { Attributes } from "../model/trace/trace.ts";
import { UnreadText } from "../model/trace/unread-text.ts";
import type { DecodeLimits } from "./limits.ts";
import { readKeyValue } from "./otlp-protobuf-value.ts";
import { type PlainCursor, unusual } from "./plain-cursor.ts";
import { hashOf, KeySet, listedAt } from "./plain-keys.ts";
import { ProtobufWalk } from "./protobuf-walk.ts";
import { setOwn } from "./set-own.ts";

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
  /** Whether the value of the last attribute is a text, and where. */
  wasText = false;
  #textFrom = 0;
  #textTo = 0;

  constructor(bytes: Buffer, cursor: PlainCursor, limits: DecodeLimits) {
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

  /** Returns the key if it is a listed one, else null. */
  keyValue(outerEnd: number, owner: number, depth: number): string | null {
    const cursor = this.#cursor;
    const end = this.enter(outerEnd, depth);
    // An empty key is left out.
    let keyEnd = cursor.at;
    if (cursor.at < end && this.#bytes[cursor.at] === 0x0a) {
      cursor.at++;
      keyEnd = cursor.sized(end);
    }
    const keyHash = hashOf(this.#bytes, cursor.at, keyEnd);
    this.#keys.add(owner, keyHash);
    const listed = listedAt(this.#bytes, cursor.at, keyEnd, keyHash);
    cursor.at = keyEnd;
    this.wasText = false;
    if (cursor.at < end) {
      if (cursor.tag() !== 0x12) throw unusual;
      this.#anyValue(this.enter(end, depth + 1), depth + 1);
    }
    cursor.leave(end);
    return listed;
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
    this.wasText = tag === 0x0a;
  }

  #items(tag: number, end: number, depth: number): void {
    const cursor = this.#cursor;
    const owner = this.newObject();
    while (cursor.at < end) {
      if (cursor.tag() !== 0x0a) throw unusual;
      if (tag === 0x32) this.keyValue(end, owner, depth + 1);
      else this.#anyValue(this.enter(end, depth + 1), depth + 1);
    }
    cursor.leave(end);
  }

  /** Sets the last attribute. `at`: where the length of its KeyValue stands. */
  decode(at: number, key: string, target: Attributes): void {
    if (!this.wasText) {
      // As any other request is decoded.
      this.#walk.rewind(at);
      readKeyValue(this.#walk, target);
      return;
    }
    const [from, to] = [this.#textFrom, this.#textTo];
    const read = () => this.#bytes.toString("utf8", from, to);
    setOwn(target, key, longTextAttributes.has(key) ? new UnreadText(read) : read());
  }
}
