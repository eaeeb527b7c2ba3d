// CSV lines: quoting, and texts that a spreadsheet would run.
import assert from "node:assert/strict";
import { test } from "node:test";
import Papa from "papaparse";
import { byteOrderMark, csvLine } from "../../src/wire/csv.ts";

test("values are quoted where they must be, and only texts are guarded against formulas", () => {
  const cases: [Parameters<typeof csvLine>[0], string][] = [
    [["plain", 12.5, true, null], "plain,12.5,true,"],
    [["a,b", 'say "hi"', "two\nlines", " spaces "], '"a,b","say ""hi""","two\nlines"," spaces "'],
    [[-5, "-5"], "-5,'-5"],
    [["=1+1", "+1", "@SUM(A1)", "-1+1"], "'=1+1,'+1,'@SUM(A1),'-1+1"],
    [["\t=1", "\r=1", "\n=1"], `'\t=1,"'\r'=1","'\n'=1"`],
    [["a;=1", "a; -1;b;;+1", "a\n@x", 'a;"=1'], `a;'=1,a; '-1;b;;'+1,"a\n'@x","a;""'=1"`],
    [["a=1", "a; b-1"], "a=1,a; b-1"],
    [["＝1+1", "'=1"], "'＝1+1,''=1"],
  ];
  for (const [cells, expected] of cases) assert.equal(csvLine(cells), `${expected}\r\n`);
});

test("a reader of CSV finds the same texts, with their guards", () => {
  const texts = ["", "a", 'x"y,z', "line\r\nline", "=cmd|' /C calc'!A0", "🙂 ünï"];
  const { data } = Papa.parse<string[]>(csvLine(texts), { skipEmptyLines: "greedy" });
  assert.deepEqual(data, [texts.map(text => (text.startsWith("=") ? `'${text}` : text))]);
  assert.equal(byteOrderMark.codePointAt(0), 0xfeff);
});
