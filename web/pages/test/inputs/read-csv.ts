// Reads a CSV file into rows with line numbers: detects the separator, a header and the column of the inputs.
import Papa from "papaparse";
import type { Candidates, LineFault } from "./candidates.ts";
import { likelyColumn, nameOfInputs } from "./likely-column.ts";

/** `none`: every line is one input, without quoting. */
export type Separator = "," | ";" | "\t" | "none";

export type Csv = {
  kind: "csv";
  separator: Separator;
  rows: CsvRow[];
  /** Rows that break the rules of quoting. */
  faults: LineFault[];
};

/** `line` is where the row begins, counted from 1: a quoted cell can span lines. */
type CsvRow = { line: number; cells: string[] };

/** What the user can change about how a CSV is read. */
export type CsvChoice = { hasHeader: boolean; column: number };

/** As many rows decide which separator fits. */
const sampledRows = 100;

/** `text` without a byte order mark. Blank lines are no rows. */
export function readCsv(text: string, wanted?: Separator): Csv {
  // One kind of line end, so that a file that mixes them reads as editors show it.
  const lines = text.replace(/\r\n?/g, "\n");
  const separator = wanted ?? separatorOf(lines);
  return separator === "none" ? readLines(lines) : readSeparated(lines, separator);
}

function readLines(text: string): Csv {
  const rows = text.split("\n").map((line, at) => ({ line: at + 1, cells: [line] }));
  return {
    kind: "csv",
    separator: "none",
    rows: rows.filter(({ cells }) => /\S/.test(cells[0]!)),
    faults: [],
  };
}

function readSeparated(text: string, separator: Exclude<Separator, "none">): Csv {
  const rows: CsvRow[] = [];
  const faults: LineFault[] = [];
  let line = 1;
  let read = 0;
  Papa.parse<string[]>(text, {
    delimiter: separator,
    newline: "\n",
    step: ({ data, errors, meta }) => {
      const start = line;
      line += lineEnds(text, read, meta.cursor);
      read = meta.cursor;
      const [error] = errors.filter(({ type }) => type === "Quotes");
      if (errors.some(({ code }) => code === "MissingQuotes")) {
        faults.push({
          line: start,
          message: "A quote is not closed, so the rest of the file cannot be read.",
        });
      } else if (error) {
        faults.push({ line: start, message: "Quotes inside a quoted cell must be doubled." });
      } else if (data.length > 1 || /\S/.test(data[0] ?? "")) {
        rows.push({ line: start, cells: data });
      }
    },
  });
  return { kind: "csv", separator, rows, faults };
}

function lineEnds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at >= 0 && at < to; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

/** The separator that gives every row the same number of cells, preferably several; else the one that fits most rows. */
function separatorOf(text: string): Separator {
  const fits = ([",", ";", "\t"] as const).map(separator => {
    const { data, errors } = Papa.parse<string[]>(text, {
      delimiter: separator,
      newline: "\n",
      preview: sampledRows,
      skipEmptyLines: true,
    });
    const width = data[0]?.length ?? 1;
    const same = data.filter(row => row.length === width).length;
    const isSound = errors.every(({ type }) => type !== "Quotes");
    return { separator, width, share: data.length === 0 ? 1 : same / data.length, isSound };
  });
  const even = fits.filter(({ share, isSound }) => share === 1 && isSound);
  const wide = even.filter(({ width }) => width > 1).sort((a, b) => b.width - a.width)[0];
  if (wide) return wide.separator;
  // Some rows may be wrong in a file that has a header of several columns; plain sentences have commas anywhere.
  const most = fits
    .filter(({ width, share }) => width > 1 && share > 0.5)
    .sort((a, b) => b.share - a.share)[0];
  if (most) return most.separator;
  // A file of one column: with quotes, it is a CSV; without, commas belong to the text.
  const isQuoted = /^"/m.test(text) || even.some(({ separator }) => separator === ",");
  return isQuoted ? "," : "none";
}

/** Whether the first row names the columns, and which column has the inputs. */
export function guessChoice({ rows }: Csv): CsvChoice {
  const first = rows[0]?.cells ?? [];
  const hasHeader = rows.length > 0 && (first.some(isNameOfInputs) || (first.length > 1 && isHeader(first)));
  return { hasHeader, column: columnOf(rows, hasHeader) };
}

/** The likely column for a choice of the header. */
export function columnOf(rows: readonly CsvRow[], hasHeader: boolean): number {
  const names = hasHeader ? (rows[0]?.cells ?? []) : [];
  const width = Math.max(0, ...rows.slice(0, sampledRows).map(({ cells }) => cells.length));
  const sample = rows.slice(hasHeader ? 1 : 0, sampledRows).map(({ cells }) => cells);
  return likelyColumn(
    Array.from({ length: width }, (_, at) => names[at] ?? ""),
    sample,
  );
}

/** "Column 2", or its name in the header. */
export function columnNames({ rows }: Csv, hasHeader: boolean): string[] {
  const width = Math.max(0, ...rows.map(({ cells }) => cells.length));
  const names = hasHeader ? (rows[0]?.cells ?? []) : [];
  const usable = hasHeader ? names.length : width;
  return Array.from({ length: usable }, (_, at) => names[at]?.trim() || `Column ${at + 1}`);
}

/** The cells of the chosen column; a row with more cells than the header is a fault. */
export function csvCandidates(csv: Csv, { hasHeader, column }: CsvChoice): Candidates {
  const width = hasHeader ? (csv.rows[0]?.cells.length ?? 0) : undefined;
  const candidates: Candidates = { inputs: [], faults: [...csv.faults] };
  for (const { line, cells } of hasHeader ? csv.rows.slice(1) : csv.rows) {
    if (width !== undefined && cells.length > width) {
      candidates.faults.push({ line, message: tooManyCells(cells.length, width) });
    } else candidates.inputs.push({ line, input: withoutGuard(cells[column] ?? "") });
  }
  candidates.faults.sort((a, b) => a.line - b.line);
  return candidates;
}

function tooManyCells(found: number, expected: number): string {
  return `${found} cells, but the header has ${expected}. Put quotes around a text that contains the separator.`;
}

/** Removes the apostrophe that exports put before a text which a spreadsheet would run as a formula. */
function withoutGuard(cell: string): string {
  return /^'+[=+\-@\t\r\n＝＋－＠]/.test(cell) ? cell.slice(1) : cell;
}

function isNameOfInputs(cell: string): boolean {
  return nameOfInputs.test(cell.trim());
}

const headerCellMax = 40;

/** Short, different names without the marks of a sentence. */
function isHeader(cells: readonly string[]): boolean {
  const names = cells.map(cell => cell.trim().toLowerCase());
  return (
    new Set(names).size === names.length &&
    names.every(name => name !== "" && name.length <= headerCellMax && !/[.?!]$|^[\d.,-]+$/.test(name))
  );
}
