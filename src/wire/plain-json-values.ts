// Walks the attributes of a plain OTLP request in JSON: checks them, and decodes those that columns are derived from.
import { setOwn } from "../model/set-own.ts";
import type { Attributes } from "../model/trace/trace.ts";
import { UnreadText } from "../model/trace/unread-text.ts";
import { longTextAttributes } from "../reading/derived/column-attributes.ts";
import { readAnyValue } from "./any-value.ts";
import { unusual } from "./plain-cursor.ts";
import { type JsonCursor, Names, token } from "./plain-json.ts";
import { hashOf, isSignAt, KeySet, keyAt, listedAt, serviceNameKey } from "./plain-keys.ts";
import type { PlainWatcher } from "./plain-trace.ts";

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
  readonly #watcher: PlainWatcher | null;
  /** Whether an attribute of a span may be the sign of a convention. */
  hasSigns = false;
  /** The last key, its hash, and where its value stands. */
  #keyFrom = 0;
  #keyTo = 0;
  #isKeyEscaped = false;
  #keyHash = 0;
  #valueAt = 0;
  /** Whether the last value is a text, which then is the cursor's last. */
  #wasText = false;

  constructor(bytes: Buffer, cursor: JsonCursor, nestingMax: number, watcher: PlainWatcher | null) {
    this.#bytes = bytes;
    this.#watcher = watcher;
    this.#cursor = cursor;
    this.#nestingMax = Math.min(depthMax, nestingMax);
  }

  /** Forgets the keys of other spans. */
  newSpan(): void {
    keySet.clear();
  }

  /**
   * The attributes of the resource, a scope, a span, an event or a link; returns how many there are. `depth`: of the list.
   * Listed ones are set in `target`. `isOfResource`: that is for the service's name, which must be a text.
   */
  attributes(depth: number, target: Attributes | null, isOfResource = false): number {
    const cursor = this.#cursor;
    const owner = keySet.owner();
    let count = 0;
    cursor.open("[");
    for (; cursor.more("]"); count++) {
      this.#keyValue(owner, depth + 1);
      if (target || this.#watcher) this.#take(target, isOfResource);
    }
    return count;
  }

  #keyValue(owner: number, depth: number): void {
    const cursor = this.#cursor;
    cursor.skip(keyBegin);
    cursor.text();
    const { from, to, isEscaped } = cursor;
    const hash = hashOf(this.#bytes, from, to);
    keySet.add(owner, hash);
    cursor.skip(valueBegin);
    // The object, and the comma between its fields.
    cursor.elements += 2;
    const at = cursor.at;
    this.#anyValue(depth + 1);
    if (this.#bytes[cursor.at++] !== 125) throw unusual;
    // Those of items are known no more.
    this.#keyFrom = from;
    this.#keyTo = to;
    this.#isKeyEscaped = isEscaped;
    this.#keyHash = hash;
    this.#valueAt = at;
  }

  #take(target: Attributes | null, isOfResource: boolean): void {
    const watcher = this.#watcher;
    const [from, to] = [this.#keyFrom, this.#keyTo];
    // A key with escapes is one that no convention has, or is read as one with signs.
    if (target && !isOfResource && !this.hasSigns)
      this.hasSigns = this.#isKeyEscaped || isSignAt(this.#bytes, from, to, this.#keyHash);
    const listed = target && listedAt(this.#bytes, from, to, this.#keyHash);
    const isName = isOfResource && listed === serviceNameKey;
    // Another type is read as text, which names no service.
    if (isName && !this.#wasText) throw unusual;
    const key = watcher && !isName ? this.#key() : "";
    if (!watcher || isName || this.#isSeenClean(watcher, key)) {
      if (listed) setOwn(target!, listed, longTextAttributes.has(listed) ? this.#later() : this.#decode());
      return;
    }
    const value = this.#decode();
    if (!watcher.isCleanAttribute(key, value)) throw unusual;
    if (listed) setOwn(target!, listed, value);
  }

  /** The last key. */
  #key(): string {
    const [from, to] = [this.#keyFrom, this.#keyTo];
    if (this.#isKeyEscaped) return this.#cursor.textAt(from, to, true);
    return keyAt(this.#bytes, from, to, this.#keyHash);
  }

  #isSeenClean(watcher: PlainWatcher, key: string): boolean {
    const { from, to } = this.#cursor;
    return this.#wasText && watcher.isSeenClean(key, this.#bytes, from, to);
  }

  #later(): unknown {
    if (!this.#wasText) return this.#decode();
    const { from, to, isEscaped } = this.#cursor;
    return new UnreadText(
      () => this.#cursor.textAt(from, to, isEscaped),
      () => this.#bytes.toString("latin1", from, to),
    );
  }

  /** The last value, as any other request is decoded. */
  #decode(): unknown {
    if (this.#wasText) return this.#cursor.read();
    // Without the bracket of the attribute.
    return readAnyValue(JSON.parse(this.#bytes.toString("utf8", this.#valueAt, this.#cursor.at - 1)));
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
    cursor.open("[");
    const owner = areKeyValues ? keySet.owner() : 0;
    while (cursor.more("]")) {
      if (areKeyValues) this.#keyValue(owner, depth + 2);
      else this.#anyValue(depth + 2);
    }
    if (this.#bytes[cursor.at++] !== 125) throw unusual;
  }
}
