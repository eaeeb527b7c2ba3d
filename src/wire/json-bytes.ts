// Reads JSON as SDKs write it: no space between tokens, and texts and numbers as JSON.stringify writes them.
import type { Field, Message } from "./otlp-fields.ts";
import { unusual } from "./unusual.ts";

const quote = 34;
const backslash = 92;
const minus = 45;
const zero = 48;
const nine = 57;

const ends = new Uint8Array(256).fill(1, 0, 32);
ends[quote] = 1;
ends[backslash] = 1;

/** A native search takes as long as looking at about as many. */
const nearBytes = 24;

const hexDigits = new Uint8Array(256);
for (const digit of "0123456789abcdef") hexDigits[digit.charCodeAt(0)] = 1;

const shortEscapes = new Uint8Array(256);
for (const char of '"\\bfnrt') shortEscapes[char.charCodeAt(0)] = 1;

function nextOf(byte: number, bytes: Buffer, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at === -1 ? bytes.length : at;
}

/** Whether a byte is below that of a space. Four at a time takes a fifth of the time. */
function hasControls(bytes: Buffer): boolean {
  const { buffer, byteOffset, length } = bytes;
  const head = Math.min(-byteOffset & 3, length);
  const words = new Int32Array(buffer, byteOffset + head, (length - head) >> 2);
  for (let at = 0; at < head; at++) if (bytes[at]! < 32) return true;
  for (let at = head + 4 * words.length; at < length; at++) if (bytes[at]! < 32) return true;
  // The highest bit of a byte is set if taking a space away borrows, and it was not set before.
  let controls = 0;
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    controls |= (word - 0x20202020) & ~word;
  }
  return (controls & 0x80808080) !== 0;
}

/** Positions beyond the end have no byte that anything expects. */
export class JsonBytes {
  readonly bytes: Buffer;
  at = 0;
  /** Objects, lists and commas so far, as DecodeLimits counts them, but for those within tokens that were skipped. */
  elements = 0;
  /** The last text, id or time, without its quotes, and whether it has escapes. */
  from = 0;
  to = 0;
  isEscaped = false;
  /** The last number. */
  number = 0;
  /** The next of each after where one was last looked for. */
  #quoteAt = -1;
  #backslashAt = -1;

  /** Throws for bytes that no JSON without space has. */
  constructor(bytes: Buffer) {
    if (hasControls(bytes)) throw unusual;
    this.bytes = bytes;
  }

  skip(expected: Buffer): void {
    for (let i = 0; i < expected.length; i++) {
      if (this.bytes[this.at + i] !== expected[i]) throw unusual;
    }
    this.at += expected.length;
  }

  open(bracket: "{" | "["): void {
    if (this.bytes[this.at++] !== bracket.charCodeAt(0)) throw unusual;
    this.elements++;
  }

  /** Whether a field or an item follows; else it is closed. */
  more(bracket: "}" | "]"): boolean {
    // Only what was just opened ends in an opening bracket.
    const isFirst = (this.bytes[this.at - 1]! | 32) === 123;
    const byte = this.bytes[this.at];
    if (byte === bracket.charCodeAt(0)) {
      this.at++;
      return false;
    }
    if (isFirst) return true;
    if (byte !== 44) throw unusual;
    this.at++;
    this.elements++;
    return true;
  }

  /** The field that follows, of the known ones. */
  field(message: Message): Field {
    const bytes = this.bytes;
    if (bytes[this.at++] !== quote) throw unusual;
    const from = this.at;
    while (ends[bytes[this.at]!] === 0) this.at++;
    const field = message.named(bytes, from, this.at);
    // Not a backslash, which no name has.
    if (!field || bytes[this.at++] !== quote) throw unusual;
    if (bytes[this.at++] !== 58) throw unusual;
    return field;
  }

  passText(): void {
    const bytes = this.bytes;
    let at = this.at;
    if (bytes[at++] !== quote) throw unusual;
    this.from = at;
    this.isEscaped = false;
    for (;;) {
      const near = at + nearBytes;
      while (at < near && ends[bytes[at]!] === 0) at++;
      if (at === near) at = this.#endOfPart(at);
      if (bytes[at] === quote) break;
      this.isEscaped = true;
      at = this.#escape(at);
    }
    this.to = at;
    this.at = at + 1;
  }

  /** The next quote or backslash; the end if there is none. */
  #endOfPart(at: number): number {
    if (this.#quoteAt < at) this.#quoteAt = nextOf(quote, this.bytes, at);
    if (this.#backslashAt < at) this.#backslashAt = nextOf(backslash, this.bytes, at);
    return Math.min(this.#quoteAt, this.#backslashAt);
  }

  /** Only as JSON.stringify writes it, so that a text has one form. Returns the position after it. */
  #escape(at: number): number {
    const bytes = this.bytes;
    // The end, or a byte that no text may have.
    if (bytes[at] !== backslash) throw unusual;
    if (shortEscapes[bytes[at + 1]!] === 1) return at + 2;
    const [u, a, b, c, d] = bytes.subarray(at + 1, at + 6);
    if (u !== 117 || a !== zero || b !== zero || (c !== zero && c !== zero + 1)) throw unusual;
    if (hexDigits[d!] !== 1) throw unusual;
    const code = (c! - zero) * 16 + Number.parseInt(String.fromCharCode(d!), 16);
    // These have a short form.
    if ((code >= 8 && code <= 10) || code === 12 || code === 13) throw unusual;
    return at + 6;
  }

  /** The last text. */
  text(): string {
    return this.textAt(this.from, this.to, this.isEscaped);
  }

  textAt(from: number, to: number, isEscaped: boolean): string {
    return isEscaped
      ? (JSON.parse(this.bytes.toString("utf8", from - 1, to + 1)) as string)
      : this.bytes.toString("utf8", from, to);
  }

  /** The last id. */
  id(): string {
    return this.text();
  }

  /** Whether the last text is the id of so many bytes, in lower case and not all zero. */
  isId(length: 8 | 16): boolean {
    if (this.to - this.from !== 2 * length) return false;
    let any = 0;
    for (let at = this.from; at < this.to; at++) {
      if (hexDigits[this.bytes[at]!] !== 1) return false;
      any |= this.bytes[at]! ^ zero;
    }
    return any !== 0;
  }

  /** Nanoseconds as text. */
  passTime(): void {
    if (this.bytes[this.at++] !== quote) throw unusual;
    this.from = this.at;
    this.#digits(19);
    this.to = this.at;
    if (this.bytes[this.at++] !== quote) throw unusual;
  }

  /** The last time; 0 counts as absent. */
  time(): string | null {
    return this.bytes[this.from] === zero ? null : this.bytes.toString("latin1", this.from, this.to);
  }

  /** A number of few digits. */
  count(): void {
    let at = this.at;
    this.number = 0;
    this.#digits(9);
    while (at < this.at) this.number = this.number * 10 + this.bytes[at++]! - zero;
  }

  /** A whole number, or the text of one. */
  whole(): void {
    if (this.bytes[this.at] !== quote) {
      this.#signed(15);
      return;
    }
    this.at++;
    this.#signed(19);
    if (this.bytes[this.at++] !== quote) throw unusual;
  }

  #signed(max: number): void {
    if (this.bytes[this.at] === minus) {
      this.at++;
      if (this.bytes[this.at] === zero) throw unusual;
    }
    this.#digits(max);
  }

  #digits(max: number): void {
    const bytes = this.bytes;
    const from = this.at;
    while (bytes[this.at]! >= zero && bytes[this.at]! <= nine) this.at++;
    const count = this.at - from;
    if (count === 0 || count > max || (bytes[from] === zero && count > 1)) throw unusual;
  }

  /** A number as JavaScript writes it. */
  double(): void {
    const from = this.at;
    // Digits, signs, a point and an exponent; up to its end, nothing longer is read.
    while (this.at - from < 32 && isOfNumber(this.bytes[this.at]!)) this.at++;
    const text = this.bytes.toString("latin1", from, this.at);
    const number = Number(text);
    if (!Number.isFinite(number) || String(number) !== text) throw unusual;
  }

  bool(): void {
    this.skip(this.bytes[this.at] === 116 ? yes : no);
  }
}

const yes = Buffer.from("true");
const no = Buffer.from("false");

function isOfNumber(byte: number): boolean {
  return (byte >= zero && byte <= nine) || byte === 43 || byte === minus || byte === 46 || byte === 101;
}
