// Walks an OTLP request in JSON as SDKs write it, and tells a visitor of its messages and fields.
import { isUtf8 } from "node:buffer";
import { UnreadText } from "../model/trace/unread-text.ts";
import { readAnyValue } from "./any-value.ts";
import { JsonBytes } from "./json-bytes.ts";
import type { DecodeLimits } from "./limits.ts";
import { anyValue, type Field, type Message } from "./otlp-fields.ts";
import { hashOf, type KeySet } from "./plain-keys.ts";
import { unusual } from "./unusual.ts";
import { once, type PlainWalk, type Visitor } from "./visitor.ts";

const keyBegin = Buffer.from('{"key":');
const valueBegin = Buffer.from(',"value":');
const valuesBegin = Buffer.from('"values":');
const closingBrace = 125;

const depthMax = 60;
/** That of a value of an event or link, which are the deepest. */
const valueDepth = 12;

export class JsonWalk extends JsonBytes implements PlainWalk {
  readonly #visitor: Visitor<JsonWalk>;
  readonly #limits: DecodeLimits;
  keyFrom = 0;
  keyTo = 0;
  keyHash = 0;
  isKeyEscaped = false;
  isText = false;
  /** Where the value of the last attribute is. */
  #valueAt = 0;

  /** Its visitor is strict. */
  constructor(bytes: Buffer, limits: DecodeLimits, visitor: Visitor<JsonWalk>) {
    super(bytes);
    this.#visitor = visitor;
    this.#limits = limits;
  }

  walk(request: Message): void {
    const { nestingMax, elementsMax } = this.#limits;
    if (nestingMax < valueDepth || !isUtf8(this.bytes)) throw unusual;
    this.open("{");
    this.#fields(request, 0);
    if (this.at !== this.bytes.length || this.elements > elementsMax) throw unusual;
  }

  #message(field: Field): void {
    const from = this.at;
    this.open("{");
    const owner = this.#visitor.enter(field);
    this.#fields(field.message, owner);
    this.#visitor.leave(field, this.at - from);
  }

  #fields(message: Message, owner: number): void {
    const visitor = this.#visitor;
    let seen = 0;
    while (this.more("}")) {
      const field = this.field(message);
      seen = once(seen, field);
      if (field.isList) {
        this.open("[");
        while (this.more("]")) {
          if (field.kind === "message") this.#message(field);
          else visitor.attribute(field, this, 0, owner);
        }
      } else if (field.kind === "message") this.#message(field);
      else {
        this.#scalar(field);
        visitor.scalar(field, this);
      }
    }
  }

  #scalar({ kind }: Field): void {
    switch (kind) {
      case "text":
      case "note":
      case "id":
        this.passText();
        return;
      case "time":
        this.passTime();
        return;
      default:
        this.count();
    }
  }

  checkAttribute(keys: KeySet, owner: number): void {
    this.#checkAttribute(keys, owner, valueDepth);
  }

  #checkAttribute(keys: KeySet, owner: number, depth: number): void {
    this.skip(keyBegin);
    this.passText();
    const { from, to, isEscaped } = this;
    const hash = hashOf(this.bytes, from, to);
    keys.add(owner, hash);
    this.skip(valueBegin);
    // The object, and the comma between its fields.
    this.elements += 2;
    const { at } = this;
    this.#checkValue(keys, depth);
    if (this.bytes[this.at++] !== closingBrace) throw unusual;
    // Those of items are known no more.
    this.keyFrom = from;
    this.keyTo = to;
    this.isKeyEscaped = isEscaped;
    this.keyHash = hash;
    this.#valueAt = at;
  }

  #checkValue(keys: KeySet, depth: number): void {
    if (depth > depthMax || depth > this.#limits.nestingMax) throw unusual;
    this.isText = false;
    this.open("{");
    if (!this.more("}")) return;
    const field = this.field(anyValue);
    switch (field.kind) {
      case "text":
      case "bytes":
        this.passText();
        break;
      case "bool":
        this.bool();
        break;
      case "int":
        this.whole();
        break;
      case "double":
        this.double();
        break;
      default:
        this.#checkItems(keys, field.message.of["values"]!.kind === "attribute", depth + 1);
    }
    this.isText = field.kind === "text";
    if (this.bytes[this.at++] !== closingBrace) throw unusual;
  }

  #checkItems(keys: KeySet, areAttributes: boolean, depth: number): void {
    this.open("{");
    if (!this.more("}")) return;
    this.skip(valuesBegin);
    this.open("[");
    const owner = areAttributes ? keys.owner() : 0;
    while (this.more("]")) {
      if (areAttributes) this.#checkAttribute(keys, owner, depth + 3);
      else this.#checkValue(keys, depth + 2);
    }
    if (this.bytes[this.at++] !== closingBrace) throw unusual;
  }

  attributeValue(): unknown {
    if (this.isText) return this.text();
    // Without the bracket of the attribute.
    return readAnyValue(JSON.parse(this.bytes.toString("utf8", this.#valueAt, this.at - 1)));
  }

  unreadText(): UnreadText {
    const { from, to, isEscaped } = this;
    return new UnreadText(
      () => this.textAt(from, to, isEscaped),
      () => this.bytes.toString("latin1", from, to),
    );
  }
}
