// Kinds of characters, for finding values without regular expressions over whole texts.
import { codeAt, type Text } from "./units.ts";

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** 0 to 9 in ASCII, full width, Arabic, Persian and Devanagari digits; else -1. */
export function digitOf(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  if (code < 0x660) return -1;
  for (const zero of zeros) if (code >= zero && code <= zero + 9) return code - zero;
  return -1;
}

const zeros = [0xff10, 0x660, 0x6f0, 0x966];

/** Letters of Latin script, with accents. */
export function isLatin(code: number): boolean {
  const lower = code | 32;
  if (lower >= 97 && lower <= 122) return true;
  return code >= 0xc0 && code <= 0x24f && code !== 0xd7 && code !== 0xf7;
}

export function isLatinOrDigit(code: number): boolean {
  return isDigit(code) || isLatin(code);
}

export function isWordChar(code: number): boolean {
  return isLatinOrDigit(code) || code === 95;
}

/** Letters of other scripts, roughly: anything above Latin but punctuation and symbols. */
export function isOtherLetter(code: number): boolean {
  if (code <= 0x24f) return false;
  return (
    !(code >= 0x2000 && code <= 0x2bff) &&
    !(code >= 0x3000 && code <= 0x303f) &&
    !(code >= 0xff00 && code <= 0xff20)
  );
}

/** Whether the character is the letter of an escape such as `\n` in JSON that is read as text. */
export function isEscapeLetter(text: Text, at: number): boolean {
  return codeAt(text, at - 1) === 92 && isTextEscape(codeAt(text, at));
}

/** The letters of `\n`, `\r` and `\t`. */
export function isLineEscape(code: number): boolean {
  return code === 110 || code === 114 || code === 116;
}

function isTextEscape(code: number): boolean {
  return isLineEscape(code) || code === 98 || code === 102;
}

/** The text before a position, for words that say what follows. */
export function before(text: Text, at: number, length: number): string {
  return text.slice(Math.max(0, at - length), at);
}

/** Whether a placeholder such as `⟦email⟧` ends here: what is attached to it began in what was there before. */
export function isAfterPlaceholder(text: Text, at: number): boolean {
  return codeAt(text, at - 1) === 0x27e7 && /⟦[a-z0-9_-]{1,32}⟧$/.test(text.slice(Math.max(0, at - 34), at));
}
