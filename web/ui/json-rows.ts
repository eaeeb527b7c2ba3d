// Turns a JSON value into tree rows: which are unfolded, and which match a search.
import { looksStructured, parseExact } from "../exact-json.ts";
import type { ValuePath } from "../value-path.ts";

export type JsonRow = {
  /** The path as text. */
  id: string;
  path: ValuePath;
  depth: number;
  value: unknown;
  /** The list or object that unfolds here; it may be parsed from a text. */
  inner: object | undefined;
  /** The number of entries of `inner`. */
  size: number;
  /** Whether the row can unfold: it has entries, or a text longer than one row. */
  folds: boolean;
  open: boolean;
};

/** The rows that the user folded (false) or unfolded (true), by id. */
export type Folds = ReadonlyMap<string, boolean>;

const openAtFirst = 40;
const shortText = 140;

/** A text that does not fit on one row. */
export function isLongText(value: unknown): value is string {
  return typeof value === "string" && (value.length > shortText || value.includes("\n"));
}

/** All rows except the entries of folded ones. The outermost value has no row. */
export function jsonRows(value: unknown, folds: Folds): JsonRow[] {
  const rows: JsonRow[] = [];
  let unfolded = 0;
  const add = (holder: object, path: ValuePath) => {
    for (const [key, item] of entriesOf(holder)) {
      const row = rowOf(item, [...path, key]);
      rows.push(row);
      // Lists and objects unfold initially until 40 rows are visible; texts only on request.
      const inViewAtFirst = row.inner === item && unfolded + row.size <= openAtFirst && row.size > 0;
      row.open = row.folds && (folds.get(row.id) ?? inViewAtFirst);
      if (!row.open || !row.inner) continue;
      unfolded += row.size;
      add(row.inner, row.path);
    }
  };
  const outer = structureOf(value);
  if (outer) add(outer, []);
  return rows;
}

const lookedAtMax = 200_000;

/** The rows whose key or value contains the text, with their parents; and the number of matches. */
export function findRows(value: unknown, text: string): { rows: JsonRow[]; found: number } {
  const wanted = text.toLowerCase();
  const rows: JsonRow[] = [];
  let found = 0;
  let looked = 0;
  const look = (holder: object, path: ValuePath): boolean => {
    let any = false;
    for (const [key, item] of entriesOf(holder)) {
      if (++looked > lookedAtMax) break;
      const row = rowOf(item, [...path, key]);
      const at = rows.push(row) - 1;
      const holds =
        String(key).toLowerCase().includes(wanted) ||
        (row.inner !== item && String(item).toLowerCase().includes(wanted));
      if (holds) found++;
      row.open = row.inner !== undefined && look(row.inner, row.path);
      if (holds || row.open) any = true;
      else rows.length = at;
    }
    return any;
  };
  const outer = structureOf(value);
  if (outer) look(outer, []);
  return { rows, found };
}

function rowOf(value: unknown, path: ValuePath): JsonRow {
  const inner = structureOf(value);
  const size = inner ? (Array.isArray(inner) ? inner.length : Object.keys(inner).length) : 0;
  const folds = size > 0 || isLongText(value);
  return { id: JSON.stringify(path), path, depth: path.length, value, inner, size, folds, open: false };
}

/** The value if it is a list or object, or the list or object that it is the JSON text of. */
export function structureOf(value: unknown): object | undefined {
  if (typeof value === "object" && value !== null) return value;
  return typeof value === "string" && looksStructured(value) ? parsedOnce(value) : undefined;
}

const parsedMax = 200;
const parsed = new Map<string, object | undefined>();

/** Caches parsed texts, because every fold rebuilds all rows. */
function parsedOnce(text: string): object | undefined {
  if (parsed.has(text)) return parsed.get(text);
  const value = parseExact(text);
  if (parsed.size >= parsedMax) parsed.clear();
  parsed.set(text, value);
  return value;
}

function entriesOf(holder: object): [string | number, unknown][] {
  return Array.isArray(holder) ? holder.map((item, at) => [at, item]) : Object.entries(holder);
}
