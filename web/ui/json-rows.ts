// The rows that a JSON value is shown in: which are unfolded, and which answer a search.
import { looksStructured, parseExact } from "../exact-json.ts";
import type { ValuePath } from "../value-path.ts";

export type JsonRow = {
  /** The path as text. */
  id: string;
  path: ValuePath;
  depth: number;
  value: unknown;
  /** The list or object that is unfolded here, which may stand in a text. */
  inner: object | undefined;
  /** How many entries `inner` has. */
  size: number;
  /** Whether there is something to unfold: entries, or the rest of a text. */
  folds: boolean;
  open: boolean;
};

/** What is folded or unfolded other than at first. */
export type Folds = ReadonlyMap<string, boolean>;

const openAtFirst = 40;
const shortText = 140;

/** A text that does not show whole on one row. */
export function isLongText(value: unknown): value is string {
  return typeof value === "string" && (value.length > shortText || value.includes("\n"));
}

/** All rows, folded ones' entries left out. The outermost value itself is not among them. */
export function jsonRows(value: unknown, folds: Folds): JsonRow[] {
  const rows: JsonRow[] = [];
  let unfolded = 0;
  const add = (holder: object, path: ValuePath) => {
    for (const [key, item] of entriesOf(holder)) {
      const row = rowOf(item, [...path, key]);
      rows.push(row);
      // Structures unfold at first until there is enough to see; texts do when asked.
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

/** The rows that hold the text, in their keys or values, below those that hold them; and how many there are. */
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

/** The list or object that the value is, or is the text of. */
export function structureOf(value: unknown): object | undefined {
  if (typeof value === "object" && value !== null) return value;
  return typeof value === "string" && looksStructured(value) ? parsedOnce(value) : undefined;
}

const parsedMax = 200;
const parsed = new Map<string, object | undefined>();

/** Rows are made again at every fold; the same texts need not be read again. */
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
