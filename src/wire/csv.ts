// Writes CSV that spreadsheets open without running any of it.

/** A text that begins like a formula gets an apostrophe, which spreadsheets do not show. */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;

export type Cell = string | number | boolean | null;

/** A line as in RFC 4180. Numbers are never formulas. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(",")}\r\n`;
}

/** Before the first line; tells Excel that the file is UTF-8. */
export const byteOrderMark = "\u{FEFF}";

function cellText(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell !== "string") return String(cell);
  const text = formula.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}
