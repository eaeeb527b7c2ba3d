// Splits pasted text into inputs: cells of a spreadsheet, or lines.
import { readCsv } from "./read-csv.ts";

export type Pasted = {
  inputs: string[];
  /** Only the first column is used. */
  columns: number;
};

/** Spreadsheets put their cells on the clipboard as an HTML table, and as text with tabs and quotes. */
export function readPasted(text: string, html: string): Pasted {
  const isTable = /<table\b/i.test(html) || text.includes("\t");
  const read = isTable ? readCsv(text, "\t") : undefined;
  // Some spreadsheets do not double the quotes of a cell that needs none.
  const { rows } = read && read.faults.length === 0 ? read : readCsv(text, "none");
  const cells = rows.map(({ cells }) => (isTable && cells.length === 1 ? cells[0]!.split("\t") : cells));
  return {
    inputs: cells.map(([first = ""]) => first).filter(input => /\S/.test(input)),
    columns: Math.max(1, ...cells.map(row => row.length)),
  };
}
