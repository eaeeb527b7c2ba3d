// Texts and names as columns can store them.
import { shorten } from "../shorten.ts";

export const textMax = 500;
/** Separates names in one text: it is replaced in names, as no tool or model has it. */
export const nameSeparator = "\u001F";

/** As `storable`, for a name among others. */
export function storableName(name: string): string {
  return storable(name).replaceAll(nameSeparator, "\uFFFD");
}

/**
 * Converts a string for a text column: truncated, with U+FFFD for U+0000 (rejected by PostgreSQL) and lone surrogates
 * (invalid in UTF-8). The spans keep the string as it was sent.
 */
export function storable(text: string): string {
  const short = shorten(text, textMax);
  return (short.includes("\0") ? short.replaceAll("\0", "\uFFFD") : short).toWellFormed();
}

/** Two names of this size fit into one entry of an index, which has room for 2,704 bytes. */
const keyBytesMax = 1_200;
const room = new Uint8Array(keyBytesMax);

/** The name as far as it fits into the key of a table with another such name. */
export function keyName(name: string): string {
  if (name.length * 3 <= keyBytesMax) return name;
  return name.slice(0, new TextEncoder().encodeInto(name, room).read);
}

/** Whether the column has the whole string, unchanged. */
export function isWhole(stored: string): boolean {
  const isShort = stored.length < textMax - 1 || (stored.length < textMax && !stored.endsWith("…"));
  return isShort && !stored.includes("\uFFFD");
}
