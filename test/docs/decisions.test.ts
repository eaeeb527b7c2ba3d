// docs/decisions: each record is short, has the same four headings, and stands in the index once.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { readPages, root } from "./pages.ts";

const pages = readPages().filter(({ name }) => name.startsWith("docs/decisions/"));
const index = pages.find(({ name }) => name.endsWith("/README.md"))!;
const records = pages
  .filter(page => page !== index)
  .map(({ name, text }) => ({ file: basename(name), lines: text.trimEnd().split("\n"), text }));

test("a record has at most 60 lines of at most 130 characters", () => {
  for (const { file, lines } of records) {
    assert.ok(lines.length <= 60, `${file}: ${lines.length} lines`);
    assert.deepEqual(
      lines.filter(line => line.length > 130),
      [],
      file,
    );
  }
});

test("a record has its number in its title, and the four headings with text below each", () => {
  for (const { file, lines, text } of records) {
    assert.match(file, /^\d{3}-[a-z\d-]+\.md$/);
    assert.ok(lines[0]!.startsWith(`# ${file.slice(0, 3)} `), `${file}: ${lines[0]}`);
    const parts = text.split(/^## /m).slice(1);
    const headings = parts.map(part => part.slice(0, part.indexOf("\n")));
    assert.deepEqual(headings, ["Context", "Decision", "Measured", "What would change it"], file);
    for (const part of parts) assert.ok(part.slice(part.indexOf("\n")).trim(), `${file}: ${part}`);
  }
});

test("the index has one row for each record, with its number, title, status and decision", () => {
  const rows = index.text
    .split("\n")
    .filter(line => /^\| \d{3} /.test(line))
    .map(line => line.split("|").map(cell => cell.trim()));
  const numbers = rows.map(([, number]) => number!);
  assert.deepEqual(numbers, [...new Set(numbers)].sort());
  const current = rows.filter(([, , , status]) => !/^superseded by \d{3}$/.test(status!));
  assert.deepEqual(
    current.map(([, number, title]) => [number, title]),
    records.map(({ file, lines }) => [file.slice(0, 3), `[${lines[0]!.slice("# 000 ".length)}](${file})`]),
  );
  for (const [, number, , status, decision] of current) {
    assert.match(status!, /^(?:in force|in force; .+|to be replaced: .+)$/, number);
    assert.ok(decision, number);
  }
  const followers = rows.filter(row => !current.includes(row)).map(([, , , status]) => status!.slice(-3));
  assert.deepEqual(
    followers.filter(number => !current.some(([, other]) => other === number)),
    [],
  );
});

test("a comment that names a record names one that exists", () => {
  const files = globSync("{src,web,test,scripts,bench,fuzz,torture}/**/*.{ts,tsx,mjs,sql,css}", {
    cwd: root,
  });
  const named = files.flatMap(file => {
    const text = readFileSync(join(root, file), "utf8");
    return [...text.matchAll(/\bdecisions?[/ ](\d{3}(?:-[\w-]+\.md)?)/g)].map(([, name]) => ({ file, name }));
  });
  assert.ok(named.length > 0);
  assert.deepEqual(
    named.filter(({ name }) => !records.some(({ file }) => file === name || file.slice(0, 3) === name)),
    [],
  );
});
