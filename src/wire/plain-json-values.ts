// Walks the attributes of a plain OTLP request in JSON: checks them, and decodes those that columns are derived from.
import { longTextAttributes } from "../model/trace/column-attributes.ts";
import type { Attributes } from "../model/trace/trace.ts";
import { UnreadText } from "../model/trace/unread-text.ts";
import { readAnyValue } from "./any-value.ts";
import { unusual } from "./plain-cursor.ts";
import { type JsonCursor, Names, token } from "./plain-json.ts";
import { hashOf, KeySet, listedAt } from "./plain-keys.ts";
import { setOwn } from "./set-own.ts";

const depthMax = 60;

const keyBegin = token('{"key":');
const valueBegin = token(',"value":');
const valuesBegin = token('"values":');

const kinds = [
  ...["stringValue", "bytesValue", "boolValue", "intValue"],
  ...["doubleValue", "arrayValue", "kvlistValue"],
];
const kindNames = new Names(...kinds);

/** Of the request that is being walked: one at a time. */
const keySet = new KeySet();

export class JsonValues {
  readonly #bytes: Buffer;
  readonly #cursor: JsonCursor;
  readonly #nestingMax: number;
  /** Whether the value of the last attribute is a text. */
  #wasText = false;

  constructor(bytes: Buffer, cursor: JsonCursor, nestingMax: number) {
    this.#bytes = bytes;
    this.#cursor = cursor;
    this.#nestingMax = Math.min(depthMax, nestingMax);
  }

  /** Forgets the keys of other spans. */
  newSpan(): void {
    keySet.clear();
  }

  /** A list of attributes; returns how many there are. `depth`: of the list. Listed ones are set in `target`. */
  attributes(depth: number, target: Attributes | null): number {
    const cursor = this.#cursor;
    const owner = keySet.owner();
    let count = 0;
    cursor.open("[");
    for (; cursor.more("]"); count++) this.#keyValue(owner, depth + 1, target);
    return count;
  }

  #keyValue(owner: number, depth: number, target: Attributes | null): void {
    const cursor = this.#cursor;
    cursor.skip(keyBegin);
    cursor.text();
    const { from, to } = cursor;
    const hash = hashOf(this.#bytes, from, to);
    keySet.add(owner, hash);
    cursor.skip(valueBegin);
    const at = cursor.at;
    this.#anyValue(depth + 1);
    const listed = target && listedAt(this.#bytes, from, to, hash);
    // Another type is read as text, which names no service.
    if (listed === "service.name" && !this.#wasText) throw unusual;
    if (listed) setOwn(target, listed, longTextAttributes.has(listed) ? this.#later(at) : this.#decode(at));
    if (this.#bytes[cursor.at++] !== 125) throw unusual;
  }

  #later(at: number): unknown {
    if (!this.#wasText) return this.#decode(at);
    const { from, to, isEscaped } = this.#cursor;
    return new UnreadText(() => this.#cursor.textAt(from, to, isEscaped));
  }

  /** As any other request is decoded. `at`: of the last value, whose text is the last one that was read. */
  #decode(at: number): unknown {
    return this.#wasText
      ? this.#cursor.read()
      : readAnyValue(JSON.parse(this.#bytes.toString("utf8", at, this.#cursor.at)));
  }

  /** `depth`: its own. */
  #anyValue(depth: number): void {
    if (depth > this.#nestingMax) throw unusual;
    const cursor = this.#cursor;
    this.#wasText = false;
    cursor.open("{");
    if (!cursor.more("}")) return;
    const kind = kinds[cursor.field(kindNames)];
    switch (kind) {
      case "stringValue":
      case "bytesValue":
        cursor.text();
        break;
      case "boolValue":
        cursor.bool();
        break;
      case "intValue":
        cursor.whole();
        break;
      case "doubleValue":
        cursor.double();
        break;
      default:
        this.#items(kind === "kvlistValue", depth + 1);
    }
    this.#wasText = kind === "stringValue";
    if (this.#bytes[cursor.at++] !== 125) throw unusual;
  }

  #items(areKeyValues: boolean, depth: number): void {
    const cursor = this.#cursor;
    cursor.open("{");
    if (!cursor.more("}")) return;
    cursor.skip(valuesBegin);
    if (areKeyValues) this.attributes(depth + 1, null);
    else {
      cursor.open("[");
      while (cursor.more("]")) this.#anyValue(depth + 2);
    }
    if (this.#bytes[cursor.at++] !== 125) throw unusual;
  }
}
