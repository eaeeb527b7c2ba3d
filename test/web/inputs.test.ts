// Inputs of a test from files and the clipboard: CSV, JSON lines, pasted cells; what is left out, and that exports come back.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { type Candidates, inputsMax, sortCandidates } from "../../web/pages/test/inputs/candidates.ts";
import { readPasted } from "../../web/pages/test/inputs/pasted.ts";
import { columnNames, csvCandidates, guessChoice, readCsv } from "../../web/pages/test/inputs/read-csv.ts";
import { decodeFile, readSource } from "../../web/pages/test/inputs/read-file.ts";
import { guessField, jsonlCandidates, readJsonl } from "../../web/pages/test/inputs/read-jsonl.ts";
import { inputsCsv } from "../../web/pages/test/inputs/write-csv.ts";

/** Of a file as the dialog reads it, before anything is chosen. */
function csvOf(text: string) {
  const csv = readCsv(text);
  const choice = guessChoice(csv);
  const { inputs, faults } = csvCandidates(csv, choice);
  return { separator: csv.separator, ...choice, inputs: inputs.map(({ input }) => input), faults };
}

suite("a CSV file", () => {
  const files: { what: string; text: string; separator: string; inputs: string[] }[] = [
    { what: "one column with a header", text: "input\nHi\nBye\n", separator: ",", inputs: ["Hi", "Bye"] },
    { what: "one column without a header", text: "Hi\nBye", separator: ",", inputs: ["Hi", "Bye"] },
    {
      what: "several columns, of which one is named like an input",
      text: "id,question,answer\n1,Where is it?,On its way to you\n2,Why?,Because\n",
      separator: ",",
      inputs: ["Where is it?", "Why?"],
    },
    {
      what: "the column named input before others that could be it",
      text: "message,input\na long message to the reader,Hi\n",
      separator: ",",
      inputs: ["Hi"],
    },
    {
      what: "columns without a telling name: the longest texts",
      text: "no,what\n1,Where is my order?\n2,Cancel it\n",
      separator: ",",
      inputs: ["Where is my order?", "Cancel it"],
    },
    {
      what: "semicolons, as spreadsheets write in many countries",
      text: "id;input\n1;Hi, there\n2;Well, yes\n",
      separator: ";",
      inputs: ["Hi, there", "Well, yes"],
    },
    { what: "tabs", text: "id\tinput\n1\tHi, there\n", separator: "\t", inputs: ["Hi, there"] },
    {
      what: "quoted cells with separators, quotes and line ends",
      text: 'id,input\n1,"He said ""hi"", twice"\n2,"one\ntwo"\n',
      separator: ",",
      inputs: ['He said "hi", twice', "one\ntwo"],
    },
    {
      what: "Windows line ends, also inside a cell",
      text: 'input\r\n"one\r\ntwo"\r\nthree\r\n',
      separator: ",",
      inputs: ["one\ntwo", "three"],
    },
    {
      what: "mixed line ends",
      text: "input\r\nHi\nBye\rWell\r\n",
      separator: ",",
      inputs: ["Hi", "Bye", "Well"],
    },
    {
      what: "plain lines with commas: each line is one input",
      text: "Hello there, friend\nAnother, one, here\nfoo\n",
      separator: "none",
      inputs: ["Hello there, friend", "Another, one, here", "foo"],
    },
    {
      what: "an apostrophe that keeps a spreadsheet from running a formula",
      text: "input\n'=1+1\n''-1\n'quoted'\n",
      separator: ",",
      inputs: ["=1+1", "'-1", "'quoted'"],
    },
    {
      what: "right-to-left text",
      text: "input\nאיפה ההזמנה שלי?\n",
      separator: ",",
      inputs: ["איפה ההזמנה שלי?"],
    },
    { what: "a header alone", text: "input\n", separator: ",", inputs: [] },
    { what: "nothing", text: "", separator: ",", inputs: [] },
  ];
  for (const { what, text, separator, inputs } of files) {
    test(`is read: ${what}`, () => {
      const read = csvOf(text);
      assert.deepEqual([read.separator, read.inputs, read.faults], [separator, inputs, []]);
    });
  }

  test("names the line of a row with too many cells, and reads the others", () => {
    const { inputs, faults } = csvOf('id,input\n1,"two\nlines"\n2,Hi, there\n3,Bye\n');
    assert.deepEqual(inputs, ["two\nlines", "Bye"]);
    assert.deepEqual(faults, [
      {
        line: 4,
        message: "3 cells, but the header has 2. Put quotes around a text that contains the separator.",
      },
    ]);
  });

  test("names the line of a quote that is not closed, and of one that is not doubled", () => {
    const open = csvOf('input\nHi\n"never closed\nBye\n');
    assert.deepEqual(open.inputs, ["Hi"]);
    assert.deepEqual(open.faults, [
      { line: 3, message: "A quote is not closed, so the rest of the file cannot be read." },
    ]);
    const single = csvOf('id,input\n1,Hi\n2,"a "word" here"\n3,Bye\n');
    assert.deepEqual(single.inputs, ["Hi", "Bye"]);
    assert.deepEqual(single.faults, [{ line: 3, message: "Quotes inside a quoted cell must be doubled." }]);
  });

  test("can be read with another separator, header and column than guessed", () => {
    const csv = readCsv("a;b,c\n1;2,3\n", ";");
    assert.deepEqual(columnNames(csv, false), ["Column 1", "Column 2"]);
    assert.deepEqual(columnNames(csv, true), ["a", "b,c"]);
    const { inputs } = csvCandidates(csv, { hasHeader: false, column: 1 });
    assert.deepEqual(inputs, [
      { line: 1, input: "b,c" },
      { line: 2, input: "2,3" },
    ]);
  });
});

suite("a JSON lines file", () => {
  test("takes the field input of objects, and plain strings", () => {
    const read = readJsonl('{"id":1,"input":"Hi","note":"a much longer text"}\r\n\r\n"Bye"\r\n');
    assert.equal(guessField(read), "input");
    assert.deepEqual(jsonlCandidates(read, "input").inputs, [
      { line: 1, input: "Hi" },
      { line: 3, input: "Bye" },
    ]);
  });

  test("offers the fields with texts, and takes the chosen one", () => {
    const read = readJsonl('{"n":1,"q":"Hi","a":"A long reply"}\n{"q":"Why?","a":"So"}');
    assert.deepEqual(read.fields, ["q", "a"]);
    assert.equal(guessField(read), "a");
    assert.deepEqual(
      jsonlCandidates(read, "q").inputs.map(({ input }) => input),
      ["Hi", "Why?"],
    );
  });

  test("names the line of everything that cannot be read", () => {
    const read = readJsonl(
      '{"input":"Hi"}\n{"input":\n7\n{"input":7}\n{"other":"x"}\n{"input":null}\n["a"]\n',
    );
    assert.deepEqual(jsonlCandidates(read, "input").faults, [
      { line: 2, message: "Not valid JSON." },
      { line: 3, message: "Expected a text or an object, found a number." },
      { line: 4, message: "“input” is a number, not a text." },
      { line: 5, message: "No field “input”." },
      { line: 6, message: "“input” is null, not a text." },
      { line: 7, message: "Expected a text or an object, found a list." },
    ]);
    assert.deepEqual(jsonlCandidates(readJsonl('{"a":1}'), undefined).faults, [
      { line: 1, message: "No field with a text." },
    ]);
  });

  test("may be a JSON list, whose faults name the item", () => {
    const read = readJsonl('[\n "Hi",\n {"input": "Bye"},\n 3\n]');
    assert.equal(read.unit, "item");
    assert.deepEqual(jsonlCandidates(read, "input"), {
      inputs: [
        { line: 1, input: "Hi" },
        { line: 2, input: "Bye" },
      ],
      faults: [{ line: 3, message: "Expected a text or an object, found a number." }],
    });
  });
});

suite("a file", () => {
  const bytes = (...parts: (number[] | string)[]) =>
    new Uint8Array(Buffer.concat(parts.map(part => Buffer.from(part as string))));

  test("may have a byte order mark, or be UTF-16", () => {
    const files = [
      bytes([0xef, 0xbb, 0xbf], "input\nä"),
      bytes([0xff, 0xfe], [...Buffer.from("input\nä", "utf16le")]),
      bytes([0xfe, 0xff], [...Buffer.from("input\nä", "utf16le").swap16()]),
    ];
    for (const file of files) assert.deepEqual(decodeFile(file), { ok: true, text: "input\nä" });
  });

  test("in another encoding is refused instead of read with wrong characters", () => {
    const decoded = decodeFile(bytes([0xe4]));
    assert.deepEqual(
      decoded.ok || decoded.fault,
      "This file is not UTF-8. Save it as “CSV UTF-8” and choose it again.",
    );
  });

  test("is CSV or JSON lines by its ending, else by its beginning", () => {
    const kinds: [name: string, text: string, kind: string][] = [
      ["a.csv", '{"input":1}', "csv"],
      ["a.CSV", "[1]", "csv"],
      ["a.jsonl", "Hi", "jsonl"],
      ["a.ndjson", "", "jsonl"],
      ["a.json", "[]", "jsonl"],
      ["a.txt", ' {"input":"Hi"}', "jsonl"],
      ["a.txt", "Hi", "csv"],
      ["a", '"Hi"', "csv"],
    ];
    for (const [name, text, kind] of kinds)
      assert.equal(readSource(name, text).kind, kind, `${name} ${text}`);
  });
});

suite("what is imported", () => {
  const of = (...inputs: string[]): Candidates => ({
    inputs: inputs.map((input, at) => ({ line: at + 1, input })),
    faults: [],
  });

  test("leaves out blank inputs and duplicates, also of inputs that the test has", () => {
    assert.deepEqual(sortCandidates(of("Hi", " ", "Bye", "Hi", "", "Known"), ["Known"]), {
      inputs: ["Hi", "Bye"],
      blank: 2,
      duplicates: 2,
      tooMany: 0,
      faults: [],
    });
  });

  test("stops at the limit on inputs, counting those that stay", () => {
    const many = of(...Array.from({ length: inputsMax }, (_, at) => `input ${at}`));
    const sorted = sortCandidates(many, ["one", "two"]);
    assert.deepEqual([sorted.inputs.length, sorted.tooMany], [inputsMax - 2, 2]);
  });

  test("stops at the limit on characters, and takes shorter ones after a long one", () => {
    const long = Array.from({ length: 10 }, (_, at) => `${at}`.repeat(99_999));
    const sorted = sortCandidates(of(...long, "fits", "does not fit"), []);
    assert.deepEqual([sorted.inputs.length, sorted.inputs.at(-1), sorted.tooMany], [11, "fits", 1]);
  });

  test("names the line of an input that cannot be stored", () => {
    const { inputs, faults } = sortCandidates(
      of("x".repeat(100_001), "a\0b", "\ud800", "x".repeat(100_000)),
      [],
    );
    assert.equal(inputs.length, 1);
    assert.deepEqual(faults, [
      { line: 1, message: "100,001 characters. The limit is 100,000." },
      { line: 2, message: "Contains a character that cannot be stored." },
      { line: 3, message: "Contains a character that cannot be stored." },
    ]);
  });
});

suite("pasted text", () => {
  const table = "<meta charset='utf-8'><table><tr><td>";
  const cases: { what: string; text: string; html: string; inputs: string[]; columns: number }[] = [
    { what: "lines", text: 'Hi, there\r\n\r\n"Bye"\n', html: "", inputs: ["Hi, there", '"Bye"'], columns: 1 },
    {
      what: "cells of a spreadsheet, one of them with a line end and quotes",
      text: 'Hi\n"one\ntwo ""2"""\nBye',
      html: table,
      inputs: ["Hi", 'one\ntwo "2"', "Bye"],
      columns: 1,
    },
    {
      what: "several columns: the first is used",
      text: "Hi\t1\nBye\t2\n",
      html: "",
      inputs: ["Hi", "Bye"],
      columns: 2,
    },
    {
      what: "cells whose quotes are not doubled",
      text: '"Hi" he said\t1\nBye\t2\n',
      html: table,
      inputs: ['"Hi" he said', "Bye"],
      columns: 2,
    },
    { what: "nothing but blanks", text: " \n\n", html: "", inputs: [], columns: 1 },
  ];
  for (const { what, text, html, inputs, columns } of cases) {
    test(`is split: ${what}`, () => assert.deepEqual(readPasted(text, html), { inputs, columns }));
  }
});

suite("an export", () => {
  test("never begins a cell like a formula", () => {
    for (const input of ["=1+1", "+1", "-1", "@x", "\t=1", "\n=1", "'=1", "＝1"]) {
      const cell = inputsCsv([input]).split("\r\n").slice(1).join("\r\n");
      assert.match(cell, /^"'/, JSON.stringify(input));
    }
    for (const input of ["a;=1", 'a;"=1', "a;b\n=1"]) {
      const [header, ...cells] = readCsv(inputsCsv([input]).slice(1), ";").rows;
      assert.deepEqual([header?.cells, cells.map(({ cells }) => cells)], [["input"], [[input]]]);
    }
    assert.equal(inputsCsv(["Hi", "It's"]), "\u{FEFF}input\r\nHi\r\nIt's\r\n");
  });

  test("comes back as it was when it is imported", () => {
    const input = fc
      .oneof(fc.string({ unit: "binary" }), fc.string({ unit: fc.constantFrom(..."=+-@'\"\t\n,; ab") }))
      .filter(text => /\S/.test(text) && text.isWellFormed() && !/[\r\0]/.test(text));
    fc.assert(
      fc.property(fc.uniqueArray(input, { minLength: 1 }), inputs => {
        const decoded = decodeFile(new Uint8Array(Buffer.from(inputsCsv(inputs))));
        assert.ok(decoded.ok);
        assert.deepEqual(csvOf(decoded.text).inputs, inputs);
      }),
    );
  });
});
