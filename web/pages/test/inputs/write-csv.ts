// Writes inputs as a CSV file that spreadsheets open without running any of it.
import Papa from "papaparse";

/**
 * A text that begins like a formula gets an apostrophe, which spreadsheets do not show and imports remove. One that has
 * apostrophes before such a beginning gets another, so that nothing is lost on the way back.
 */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;

/**
 * RFC 4180 with a header; the byte order mark tells Excel that it is UTF-8. A cell that begins a line and is in quotes is also
 * whole where semicolons separate cells, so that none of its parts begins a cell.
 */
export function inputsCsv(inputs: readonly string[]): string {
  const rows = [["input"], ...inputs.map(input => [input])];
  return `\u{FEFF}${Papa.unparse(rows, {
    escapeFormulae: formula,
    newline: "\r\n",
    quotes: cell => String(cell).includes(";"),
  })}\r\n`;
}
