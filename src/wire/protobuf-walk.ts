// Cursor over the protobuf wire format, which counts messages and limits their nesting.
import protobuf from "protobufjs/minimal.js";
import { type DecodeLimits, tooDeep, tooManyElements } from "./limits.ts";

/** Wire types. */
export const varint = 0;
export const eightBytes = 1;
export const fourBytes = 5;
export const sized = 2;

/**
 * Reads one body, limited to the current message. Callers compare whole tags (field number × 8 + wire type), so a known
 * field with another wire type is skipped like an unknown field. Throws protobufjs' errors if the bytes are not protobuf,
 * and a Refusal if the body exceeds the limits.
 */
export class ProtobufWalk {
  readonly #bytes: Buffer;
  readonly #reader: protobuf.Reader;
  readonly #limits: DecodeLimits;
  #depth = 0;
  #elements = 0;
  #tag = 0;

  constructor(bytes: Buffer, limits: DecodeLimits) {
    this.#bytes = bytes;
    this.#reader = protobuf.Reader.create(bytes);
    this.#limits = limits;
  }

  /** Whether the current message has more fields. */
  get more(): boolean {
    return this.#reader.pos < this.#reader.len;
  }

  /** Enters the message at the current position. Returns the argument for `leave`. */
  enter(): number {
    if (++this.#elements > this.#limits.elementsMax) throw tooManyElements(this.#limits);
    if (++this.#depth > this.#limits.nestingMax) throw tooDeep(this.#limits);
    const reader = this.#reader;
    const outer = reader.len;
    const end = reader.size() + reader.pos;
    if (end > outer) throw new RangeError("a message is longer than the one that holds it");
    reader.len = end;
    return outer;
  }

  /** Leaves a message whose fields have all been read. */
  leave(outer: number): void {
    this.#reader.len = outer;
    this.#depth--;
  }

  get position(): number {
    return this.#reader.pos;
  }

  /** Returns to a position in the current message. */
  rewind(position: number): void {
    this.#reader.pos = position;
  }

  tag(): number {
    this.#tag = this.#reader.tag();
    return this.#tag;
  }

  /** Skips the field whose tag was just read. */
  skip(): void {
    this.#reader.skipType(this.#tag & 7, 0, this.#tag >>> 3);
  }

  /** Invalid UTF-8 becomes U+FFFD. */
  text(): string {
    return this.#reader.string();
  }

  bool(): boolean {
    return this.#reader.bool();
  }

  int32(): number {
    return this.#reader.int32();
  }

  uint32(): number {
    return this.#reader.uint32();
  }

  fixed32(): number {
    return this.#reader.fixed32();
  }

  double(): number {
    return this.#reader.double();
  }

  /** A number, or decimal text beyond ±(2^53−1). */
  int64(): number | string {
    const { high, low } = this.#reader.int64();
    const number = high * 2 ** 32 + (low >>> 0);
    return Number.isSafeInteger(number) ? number : ((BigInt(high) << 32n) | BigInt(low >>> 0)).toString();
  }

  /** Decimal text. */
  fixed64(): string {
    this.#reader.skip(8);
    return this.#bytes.readBigUInt64LE(this.#reader.pos - 8).toString();
  }

  base64(): string {
    const [start, end] = this.#span();
    return this.#bytes.toString("base64", start, end);
  }

  /** Bytes as hexadecimal text, truncated if too long for any id. */
  id(): string {
    const [start, end] = this.#span();
    return this.#bytes.toString("hex", start, Math.min(end, start + 33));
  }

  #span(): [start: number, end: number] {
    const length = this.#reader.size();
    const start = this.#reader.pos;
    this.#reader.skip(length);
    return [start, start + length];
  }
}
