// Reads the wire format of protobuf: numbers, and where texts and messages begin and end, within the limits of a request.
import { type DecodeLimits, tooDeep, tooManyElements } from "./limits.ts";
import { unusual } from "./unusual.ts";

/** Of groups, which nobody sends any more. */
const groupsMax = 100;

/**
 * Throws `unusual` if the bytes are not protobuf, and a Refusal beyond the limits. Numbers may be read beyond the end of their
 * message, which `leave` notices.
 */
export class ProtobufBytes {
  readonly bytes: Buffer;
  at = 0;
  /** Where the last text, id or time is. */
  from = 0;
  to = 0;
  /** The last number. */
  number = 0;
  readonly #limits: DecodeLimits;
  readonly #lengthMax: number;
  #depth = 0;
  #elements = 0;

  /** `lengthMax`: how many bytes a length has at most. */
  constructor(bytes: Buffer, limits: DecodeLimits, lengthMax: number) {
    this.bytes = bytes;
    this.#limits = limits;
    this.#lengthMax = lengthMax;
  }

  /** Enters a message, and returns its end. */
  enter(outerEnd: number): number {
    if (++this.#elements > this.#limits.elementsMax) throw tooManyElements(this.#limits);
    if (++this.#depth > this.#limits.nestingMax) throw tooDeep(this.#limits);
    this.sized(outerEnd);
    this.at = this.from;
    return this.to;
  }

  leave(end: number): void {
    if (this.at !== end) throw unusual;
    this.#depth--;
  }

  tag(): number {
    const from = this.at;
    const tag = this.varint(5);
    if (this.at - from === 5 && this.bytes[this.at - 1]! > 15) throw unusual;
    return tag;
  }

  /** What has a length. */
  sized(outerEnd: number): void {
    const from = this.at;
    const length = this.varint(this.#lengthMax);
    if (this.at - from === 5 && this.bytes[this.at - 1]! > 7) throw unusual;
    this.from = this.at;
    this.to = this.at + length;
    if (this.to > outerEnd) throw unusual;
    this.at = this.to;
  }

  fixed(length: 4 | 8): void {
    this.from = this.at;
    this.at += length;
    this.to = this.at;
    if (this.at > this.bytes.length) throw unusual;
  }

  fixed32(): void {
    this.fixed(4);
    this.number = this.bytes.readUInt32LE(this.from);
  }

  /** The lower 32 bits of a number. */
  varint(bytesMax: number): number {
    const { bytes } = this;
    let byte = bytes[this.at++]!;
    if (byte < 128) return byte;
    let number = byte & 127;
    for (let shift = 7; shift < bytesMax * 7; shift += 7) {
      byte = bytes[this.at++]!;
      if (shift < 32) number |= (byte & 127) << shift;
      if (byte < 128) return number >>> 0;
    }
    throw unusual;
  }

  /** A number, or decimal text beyond ±(2^53−1). */
  int64(): number | string {
    let [low, high] = [0, 0];
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.bytes[this.at++]!;
      const bits = byte & 127;
      if (shift < 32) low |= bits << shift;
      if (shift === 28) high = bits >> 4;
      else if (shift > 28) high |= bits << (shift - 32);
      if (byte < 128) {
        const number = high * 2 ** 32 + (low >>> 0);
        if (Number.isSafeInteger(number)) return number;
        return ((BigInt(high) << 32n) | BigInt(low >>> 0)).toString();
      }
    }
    throw unusual;
  }

  bool(): boolean {
    let bits = 0;
    for (let left = 10; left > 0; left--) {
      const byte = this.bytes[this.at++]!;
      bits |= byte & 127;
      if (byte < 128) return bits !== 0;
    }
    throw unusual;
  }

  skip(tag: number, outerEnd: number, depth = 0): void {
    if (depth > groupsMax || tag >>> 3 === 0) throw unusual;
    switch (tag & 7) {
      case 0:
        while (this.bytes[this.at++]! > 127);
        return;
      case 1:
        this.fixed(8);
        return;
      case 2:
        this.sized(outerEnd);
        return;
      case 3:
        for (;;) {
          const inner = this.tag();
          if (inner === tag + 1) return;
          this.skip(inner, outerEnd, depth + 1);
        }
      case 5:
        this.fixed(4);
        return;
      default:
        throw unusual;
    }
  }

  /** The last text. Invalid UTF-8 becomes U+FFFD. */
  text(): string {
    return this.bytes.toString("utf8", this.from, this.to);
  }

  /** The last id, truncated if it is too long for any. */
  id(): string {
    return this.bytes.toString("hex", this.from, Math.min(this.to, this.from + 33));
  }

  /** Whether the last id has so many bytes, and one that is not 0. */
  isId(bytes: 8 | 16): boolean {
    let any = 0;
    for (let at = this.from; at < this.to; at++) any |= this.bytes[at]!;
    return any !== 0 && this.to - this.from === bytes;
  }

  /** The last time, as decimal text; 0 counts as absent. */
  time(): string | null {
    const time = this.bytes.readBigUInt64LE(this.from);
    return time === 0n ? null : time.toString();
  }
}
