// Walks an OTLP request in protobuf, and tells a visitor of its messages and fields.
import { isUtf8 } from "node:buffer";
import { setOwn } from "../model/set-own.ts";
import type { Attributes } from "../model/trace/trace.ts";
import { UnreadText } from "../model/trace/unread-text.ts";
import { finite } from "./any-value.ts";
import type { DecodeLimits } from "./limits.ts";
import { anyValue, type Field, keyValue, type Message } from "./otlp-fields.ts";
import { hashOf, type KeySet } from "./plain-keys.ts";
import { ProtobufBytes } from "./protobuf-bytes.ts";
import { unusual } from "./unusual.ts";
import { once, type PlainWalk, type Visitor } from "./visitor.ts";

const tagOf = (name: string) => anyValue.of[name]!.tag;
const tags = {
  ...{ key: keyValue.of.key.tag, value: keyValue.of.value.tag },
  ...{ string: tagOf("stringValue"), bool: tagOf("boolValue"), int: tagOf("intValue") },
  ...{ double: tagOf("doubleValue"), bytes: tagOf("bytesValue") },
  ...{ list: tagOf("arrayValue"), map: tagOf("kvlistValue") },
  /** Of a list or map. */
  item: anyValue.of["arrayValue"]!.message.of["values"]!.tag,
};

export class ProtobufWalk extends ProtobufBytes implements PlainWalk {
  readonly #visitor: Visitor<ProtobufWalk>;
  readonly #isStrict: boolean;
  readonly #varintMax: number;
  keyFrom = 0;
  keyTo = 0;
  keyHash = 0;
  readonly isKeyEscaped = false;
  isText = false;
  /** Where the value of the last attribute is; -1 if it has none. */
  #valueAt = -1;

  constructor(bytes: Buffer, limits: DecodeLimits, visitor: Visitor<ProtobufWalk>) {
    super(bytes, limits, visitor.isStrict ? 3 : 5);
    this.#visitor = visitor;
    this.#isStrict = visitor.isStrict;
    this.#varintMax = visitor.isStrict ? 5 : 10;
  }

  walk(request: Message): void {
    this.#fields(request, this.bytes.length, 0, null, null);
    if (this.at !== this.bytes.length) throw unusual;
  }

  #message(field: Field, outerEnd: number): void {
    const end = this.enter(outerEnd);
    const from = this.at;
    const { message } = field;
    const owner = this.#visitor.enter(field);
    const items = this.#isStrict ? null : message.items;
    if (items) {
      // Fields may come in any order, and spans need their resource: one pass for the resource, one for the spans.
      if (message.stored.length > 0) this.#fields(message, end, owner, items, null);
      this.#visitor.described(field);
      this.at = from;
      this.#fields(message, end, owner, null, items);
    } else this.#fields(message, end, owner, null, null);
    this.leave(end);
    this.#visitor.leave(field, end - from);
  }

  #fields(message: Message, end: number, owner: number, left: Field | null, only: Field | null): void {
    const visitor = this.#visitor;
    let seen = 0;
    while (this.at < end) {
      const from = this.at;
      const tag = this.tag();
      const field = message.byTag[tag];
      if (this.#isStrict) {
        if (!field || this.at - from > (tag < 128 ? 1 : 2)) throw unusual;
        if (!field.isList) seen = once(seen, field);
      } else if (!field || field === left || (only && field !== only)) {
        this.skip(tag, end);
        continue;
      }
      switch (field.kind) {
        case "attribute":
          visitor.attribute(field, this, end, owner);
          continue;
        case "message":
          this.#message(field, end);
          continue;
        case "value":
          visitor.value(field, this, end);
          continue;
        case "time":
          this.fixed(8);
          break;
        case "fixed32":
          this.fixed32();
          break;
        case "enum":
        case "uint32":
          this.number = this.varint(this.#varintMax);
          break;
        default:
          this.sized(end);
      }
      visitor.scalar(field, this);
    }
  }

  /** Reads an attribute into `target`, and returns its key. */
  readAttribute(target: Attributes, outerEnd: number): string {
    const end = this.enter(outerEnd);
    let key = "";
    let value: unknown = null;
    this.isText = false;
    while (this.at < end) {
      const tag = this.tag();
      if (tag === tags.key) {
        this.sized(end);
        key = this.text();
      } else if (tag === tags.value) value = this.readValue(end);
      else this.skip(tag, end);
    }
    this.leave(end);
    setOwn(target, key, value);
    return key;
  }

  /** The last of several kinds of value counts. */
  readValue(outerEnd: number): unknown {
    const end = this.enter(outerEnd);
    let value: unknown = null;
    while (this.at < end) {
      const tag = this.tag();
      switch (tag) {
        case tags.string:
          this.sized(end);
          value = this.text();
          break;
        case tags.bool:
          value = this.bool();
          break;
        case tags.int:
          value = this.int64();
          break;
        case tags.double:
          this.fixed(8);
          value = finite(this.bytes.readDoubleLE(this.from));
          break;
        case tags.list:
        case tags.map:
          value = this.#readItems(tag, end);
          break;
        case tags.bytes:
          this.sized(end);
          value = this.bytes.toString("base64", this.from, this.to);
          break;
        default:
          this.skip(tag, end);
      }
      this.isText = tag === tags.string;
    }
    this.leave(end);
    return value;
  }

  #readItems(kind: number, outerEnd: number): unknown {
    const end = this.enter(outerEnd);
    const list: unknown[] = [];
    const map: Attributes = {};
    while (this.at < end) {
      const tag = this.tag();
      if (tag !== tags.item) this.skip(tag, end);
      else if (kind === tags.map) this.readAttribute(map, end);
      else list.push(this.readValue(end));
    }
    this.leave(end);
    return kind === tags.map ? map : list;
  }

  checkAttribute(keys: KeySet, owner: number, outerEnd: number): void {
    const end = this.enter(outerEnd);
    // An empty key is left out.
    let [keyFrom, keyTo] = [this.at, this.at];
    if (this.at < end && this.bytes[this.at] === tags.key) {
      this.at++;
      this.sized(end);
      [keyFrom, keyTo] = [this.from, this.to];
    }
    const keyHash = hashOf(this.bytes, keyFrom, keyTo);
    // Several keys that are no UTF-8 may be decoded to the same one.
    if (keyHash < 0 && !isUtf8(this.bytes.subarray(keyFrom, keyTo))) throw unusual;
    keys.add(owner, keyHash);
    this.isText = false;
    let valueAt = -1;
    if (this.at < end) {
      if (this.bytes[this.at++] !== tags.value) throw unusual;
      valueAt = this.at;
      this.#checkValue(keys, end);
    }
    this.leave(end);
    // Those of items are known no more.
    this.keyFrom = keyFrom;
    this.keyTo = keyTo;
    this.keyHash = keyHash;
    this.#valueAt = valueAt;
  }

  #checkValue(keys: KeySet, outerEnd: number): void {
    const end = this.enter(outerEnd);
    const tag = this.at < end ? this.bytes[this.at++]! : -1;
    switch (tag) {
      case -1:
        break;
      case tags.string:
      case tags.bytes:
        this.sized(end);
        break;
      case tags.bool:
        this.varint(1);
        break;
      case tags.int:
        this.varint(10);
        break;
      case tags.double:
        this.fixed(8);
        break;
      case tags.list:
      case tags.map:
        this.#checkItems(keys, tag, end);
        break;
      default:
        throw unusual;
    }
    this.leave(end);
    this.isText = tag === tags.string;
  }

  #checkItems(keys: KeySet, kind: number, outerEnd: number): void {
    const end = this.enter(outerEnd);
    const owner = keys.owner();
    while (this.at < end) {
      if (this.bytes[this.at++] !== tags.item) throw unusual;
      if (kind === tags.map) this.checkAttribute(keys, owner, end);
      else this.#checkValue(keys, end);
    }
    this.leave(end);
  }

  attributeValue(): unknown {
    if (this.isText) return this.text();
    if (this.#valueAt === -1) return null;
    const { at } = this;
    this.at = this.#valueAt;
    const value = this.readValue(at);
    this.at = at;
    return value;
  }

  unreadText(): UnreadText {
    const { bytes, from, to } = this;
    return new UnreadText(
      () => bytes.toString("utf8", from, to),
      () => bytes.toString("latin1", from, to),
    );
  }
}
