// What the walkers of both encodings tell a visitor of an OTLP request.
import type { UnreadText } from "../model/trace/unread-text.ts";
import type { Field } from "./otlp-fields.ts";
import type { KeySet } from "./plain-keys.ts";
import { unusual } from "./unusual.ts";

/** Adds a field to those of its message that were walked over. */
export function once(seen: number, { bit }: Field): number {
  if ((seen & bit) !== 0) throw unusual;
  return seen | bit;
}

export interface Visitor<W extends Walk> {
  /**
   * Whether everything must be as SDKs write it: no field twice, or unknown, and nothing that could be left out or written
   * shorter. Else fields may come in any order, and those with spans or log records come last, after `described`.
   */
  readonly isStrict: boolean;
  /** Returns the number of an object whose keys differ from each other, for its attributes. */
  enter(field: Field): number;
  described(field: Field): void;
  /** `bytes`: its length. */
  leave(field: Field, bytes: number): void;
  /** A text, id, time or number, which the walk reads if it is asked. */
  scalar(field: Field, walk: W): void;
  /** To be read, or walked over, by the visitor, as well as a value. `end`: of the message that has it. */
  attribute(field: Field, walk: W, end: number, owner: number): void;
  value(field: Field, walk: W, end: number): void;
}

/** Where a walker is, and what it was last at. */
export interface Walk {
  readonly bytes: Buffer;
  /** Where the last text, id or time is. */
  readonly from: number;
  readonly to: number;
  readonly number: number;
  text(): string;
  id(): string;
  isId(bytes: 8 | 16): boolean;
  time(): string | null;
}

/** What a strict walk knows of the last attribute. */
export interface PlainWalk extends Walk {
  readonly keyFrom: number;
  readonly keyTo: number;
  readonly keyHash: number;
  readonly isKeyEscaped: boolean;
  /** Whether its value is a text, which then is the last text. */
  readonly isText: boolean;
  /** Walks over an attribute, and adds its keys. */
  checkAttribute(keys: KeySet, owner: number, end: number): void;
  /** Its value, as it is decoded. */
  attributeValue(): unknown;
  unreadText(): UnreadText;
}
