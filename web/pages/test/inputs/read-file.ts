// Reads a file of inputs: its encoding, and whether it is CSV or JSON lines.
import { type Csv, readCsv, type Separator } from "./read-csv.ts";
import { type Jsonl, readJsonl } from "./read-jsonl.ts";

export type Source = Csv | Jsonl;

/** Larger than anything a test could take: its whole document is far below. */
export const fileBytesMax = 20_000_000;

export type Decoded = { ok: true; text: string } | { ok: false; fault: string };

/** UTF-8, or UTF-16 as spreadsheets save "Unicode text"; the byte order mark is removed. */
export function decodeFile(bytes: Uint8Array<ArrayBuffer>): Decoded {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? "utf-16le"
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? "utf-16be"
        : "utf-8";
  try {
    return { ok: true, text: new TextDecoder(encoding, { fatal: true }).decode(bytes) };
  } catch {
    return { ok: false, fault: "This file is not UTF-8. Save it as “CSV UTF-8” and choose it again." };
  }
}

export function readSource(name: string, text: string, separator?: Separator): Source {
  return isJson(name, text) ? readJsonl(text) : readCsv(text, separator);
}

/** By the ending, or by the first line where the ending says nothing. */
function isJson(name: string, text: string): boolean {
  if (/\.(?:jsonl|ndjson|json)$/i.test(name)) return true;
  if (/\.(?:csv|tsv|tab)$/i.test(name)) return false;
  return /^\s*[{[]/.test(text);
}
