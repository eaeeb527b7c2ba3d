// A text in UTF-8 that is read where it stands, as it is or as JSON in JSON writes it.

/** What `before` gives for bytes that are no UTF-8. */
export const malformed = -1;

const backslash = 92;

export class BytesText {
  bytes: Uint8Array = new Uint8Array(0);
  from = 0;
  to = 0;
  /** Where the character begins that `before` read. */
  start = 0;

  /** The byte at a position; 0 outside of the text. */
  at(at: number): number {
    return at >= this.from && at < this.to ? this.bytes[at]! : 0;
  }

  /** The code point that ends at a position after the beginning. */
  before(end: number): number {
    const { bytes, from } = this;
    const last = bytes[end - 1]!;
    this.start = end - 1;
    if (last < 0x80) return last;
    let start = end - 1;
    while (start > from && end - start < 4 && (bytes[start]! & 0xc0) === 0x80) start--;
    this.start = start;
    const lead = bytes[start]!;
    const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
    if (size !== end - start) return malformed;
    let code = lead & (0xff >> (size + 1));
    for (let at = start + 1; at < end; at++) code = (code << 6) | (bytes[at]! & 0x3f);
    return code;
  }

  /** Whether a backslash stands right before a position. */
  isEscaped(at: number): boolean {
    return at > this.from && this.bytes[at - 1] === backslash;
  }

  /** What follows the backslashes at a position; 0 at the end of the text. */
  afterBackslashes(at: number): number {
    let after = at;
    while (after < this.to && this.bytes[after] === backslash) after++;
    return this.at(after);
  }

  /** Whether `word`, in lower case, ends at a position, in either case. */
  endsWith(word: string, end: number): boolean {
    const start = end - word.length;
    return start >= this.from && this.#is(word, start);
  }

  /** Whether `word`, in lower case, begins at a position, in either case. */
  startsWith(word: string, start: number): boolean {
    return start + word.length <= this.to && this.#is(word, start);
  }

  #is(word: string, start: number): boolean {
    const { bytes } = this;
    for (let at = 0; at < word.length; at++) {
      const byte = bytes[start + at]!;
      const code = word.charCodeAt(at);
      if (byte !== code && (byte | 32) !== code) return false;
    }
    return true;
  }
}
