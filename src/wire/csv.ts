// Writes CSV that spreadsheets open without running any of it.

/** A text that begins like a formula gets an apostrophe, which spreadsheets do not show. */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;

/**
 * Where semicolons separate cells, as in much of Europe, spreadsheets split a text at those too, and at its line breaks:
 * quotes protect only a cell that begins a line. The sign would then begin a formula.
 */
const splitting = /([;\r\n][;\s"']*)([=+\-@＝＋－＠]?)/g;

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
  const guarded = cell.replace(splitting, (part, before, sign) => (sign ? `${before}'${sign}` : part));
  const text = formula.test(cell) ? `'${guarded}` : guarded;
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}
