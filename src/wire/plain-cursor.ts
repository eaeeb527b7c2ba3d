// Cursor over protobuf that has no surprises: throws `unusual` for what SDKs do not write.

/** Thrown for anything that needs the decoder. Carries no stack: it is made once. */
export const unusual = new Error("not as SDKs write it");

/** Positions beyond the end of a message are noticed by `leave`. */
export class PlainCursor {
  readonly #bytes: Buffer;
  at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The first byte of a tag; only that of a span's flags has another. */
  tag(): number {
    return this.#bytes[this.at++]!;
  }

  /** Enters what has a length, and returns its end. */
  sized(outerEnd: number): number {
    const bytes = this.#bytes;
    let length = bytes[this.at++]!;
    if (length > 127) {
      length = (length & 127) | (bytes[this.at++]! << 7);
      if (length > 0x3fff) {
        length = (length & 0x3fff) | (bytes[this.at++]! << 14);
        if (length > 0x1fffff) throw unusual;
      }
    }
    const end = this.at + length;
    // Not a number beyond the last byte.
    if (!(end <= outerEnd)) throw unusual;
    return end;
  }

  /** Returns its length. */
  skipSized(outerEnd: number): number {
    const end = this.sized(outerEnd);
    const length = end - this.at;
    this.at = end;
    return length;
  }

  leave(end: number): void {
    if (this.at !== end) throw unusual;
  }

  /** An id that is not all zero; returns where it begins. */
  id(length: number, outerEnd: number): number {
    const end = this.sized(outerEnd);
    const begin = this.at;
    if (end - begin !== length) throw unusual;
    let any = 0;
    while (this.at < end) any |= this.#bytes[this.at++]!;
    if (any === 0) throw unusual;
    return begin;
  }

  hex(at: number, length: number): string {
    return this.#bytes.toString("hex", at, at + length);
  }

  text(end: number): string {
    const text = this.#bytes.toString("utf8", this.at, end);
    this.at = end;
    return text;
  }

  /** Decimal text; 0 counts as absent. */
  time(): string | null {
    if (this.at + 8 > this.#bytes.length) throw unusual;
    const time = this.#bytes.readBigUInt64LE(this.at);
    this.at += 8;
    return time === 0n ? null : time.toString();
  }

  /** A number of one byte. */
  digit(): number {
    const digit = this.#bytes[this.at++]!;
    if (!(digit < 128)) throw unusual;
    return digit;
  }

  skipUint32(): void {
    this.#skipVarint(5);
  }

  skipInt64(): void {
    this.#skipVarint(10);
  }

  #skipVarint(bytesMax: number): void {
    for (let left = bytesMax; left > 0; left--) {
      if (this.#bytes[this.at++]! < 128) return;
    }
    throw unusual;
  }

  seen(): SeenFields {
    return new SeenFields();
  }
}

/** Which of the fields of a message that come once were read. */
class SeenFields {
  #fields = 0;

  once(tag: number): void {
    const field = 1 << (tag >> 3);
    if ((this.#fields & field) !== 0) throw unusual;
    this.#fields |= field;
  }

  has(tag: number): boolean {
    return (this.#fields & (1 << (tag >> 3))) !== 0;
  }
}
