// The rows of a test's inputs: keys, pasting, how many runs they make, and what is added of chosen traces.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { inputsMax } from "../../web/pages/test/inputs/candidates.ts";
import { pickedFrom } from "../../web/pages/test/inputs/picked.ts";
import { type KeyAction, keyAction } from "../../web/pages/test/inputs/row-keys.ts";
import {
  asOneInput,
  extended,
  isBlank,
  pasted,
  rowsOf,
  runsText,
  textOf,
  withoutAdded,
  withRemoved,
  withText,
} from "../../web/pages/test/inputs/rows.ts";

suite("a key in a row", () => {
  const field = (value: string, start: number, end = start) => ({
    value,
    selectionStart: start,
    selectionEnd: end,
  });
  const text = "two words";
  const cases: {
    what: string;
    key: string;
    at: number;
    field: ReturnType<typeof field>;
    action?: KeyAction;
  }[] = [
    {
      what: "Enter goes to the next row",
      ...{ key: "Enter", at: 0, field: field(text, 3) },
      action: { kind: "go", row: 1, caret: "end" },
    },
    {
      what: "Enter in the last row adds one",
      key: "Enter",
      at: 2,
      field: field(text, 3),
      action: { kind: "append" },
    },
    {
      what: "Backspace removes an empty row",
      ...{ key: "Backspace", at: 1, field: field("", 0) },
      action: { kind: "remove" },
    },
    { what: "Backspace in a text deletes a character", key: "Backspace", at: 1, field: field(text, 0) },
    {
      what: "Up at the start goes to the row above",
      ...{ key: "ArrowUp", at: 1, field: field(text, 0) },
      action: { kind: "go", row: 0, caret: "end" },
    },
    { what: "Up within a text moves in it", key: "ArrowUp", at: 1, field: field(text, 4) },
    { what: "Up in the first row stays", key: "ArrowUp", at: 0, field: field(text, 0) },
    {
      what: "Down at the end goes to the row below",
      ...{ key: "ArrowDown", at: 1, field: field(text, text.length) },
      action: { kind: "go", row: 2, caret: "start" },
    },
    { what: "Down in the last row stays", key: "ArrowDown", at: 2, field: field(text, text.length) },
    {
      what: "an arrow with a selection changes the selection",
      key: "ArrowUp",
      at: 1,
      field: field(text, 0, 3),
    },
    { what: "a letter is typed", key: "a", at: 1, field: field("", 0) },
  ];
  for (const { what, key, at, field, action } of cases) {
    test(what, () => assert.deepEqual(keyAction(key, field, { row: at, count: 3, countMax: 1_000 }), action));
  }

  test("keeps the only row, and adds none beyond the limit", () => {
    assert.equal(keyAction("Backspace", field("", 0), { row: 0, count: 1, countMax: 3 }), undefined);
    assert.deepEqual(keyAction("Enter", field("x", 1), { row: 2, count: 3, countMax: 3 }), {
      kind: "go",
      row: 2,
      caret: "end",
    });
  });
});

suite("the rows of a document", () => {
  test("are read from whatever the JSON has", () => {
    assert.deepEqual(
      [rowsOf(undefined), rowsOf([{ input: "Hi" }]), rowsOf("Hi")],
      [[], [{ input: "Hi" }], undefined],
    );
    assert.deepEqual([{ input: "Hi" }, "Hi", { input: 7 }, {}, null].map(textOf), [
      "Hi",
      "Hi",
      "7",
      "",
      "null",
    ]);
    assert.deepEqual([{ input: " " }, {}, { input: "Hi" }].map(isBlank), [true, true, false]);
    assert.deepEqual(withText([{ input: "a", note: 1 }, "b"], 0, "c"), [{ input: "c", note: 1 }, "b"]);
  });

  test("take pasted inputs in place of the empty row, up to the limit", () => {
    const rows = [{ input: "a" }, { input: "" }, { input: "z" }];
    assert.deepEqual(pasted(rows, 1, ["b", "c"]), {
      rows: [{ input: "a" }, { input: "b" }, { input: "c" }, { input: "z" }],
      left: 0,
      last: 2,
    });
    const many = Array.from({ length: inputsMax }, (_, at) => `input ${at}`);
    const { rows: full, left } = pasted(rows, 1, many);
    assert.deepEqual([full.length, full.at(-1), left], [inputsMax, { input: "z" }, 2]);
  });

  test("keep what was typed into the row, or removed, before pasted inputs come", () => {
    const rows = [{ input: "a" }, { input: "typed" }, { input: "z" }];
    assert.deepEqual(pasted(rows, 1, ["b", "c"]), {
      rows: [{ input: "a" }, { input: "b" }, { input: "c" }, { input: "typed" }, { input: "z" }],
      left: 0,
      last: 3,
    });
    assert.deepEqual(pasted([{ input: "a" }], 1, ["b", "c"]), {
      rows: [{ input: "a" }, { input: "b" }, { input: "c" }],
      left: 0,
      last: 2,
    });
    const full = Array.from({ length: inputsMax }, (_, at) => ({ input: `input ${at}` }));
    assert.deepEqual(pasted(full, 1, ["b"]), { rows: full, left: 1, last: 1 });
  });

  test("are extended without the blank ones", () => {
    assert.deepEqual(extended([{ input: "a" }, { input: "" }], ["b"]), [{ input: "a" }, { input: "b" }]);
  });

  test("say how many test runs they make", () => {
    const texts: [inputs: number, repeats: unknown, text: string | undefined][] = [
      [0, undefined, undefined],
      [1, 1, undefined],
      [0, 3, "3 repeats = 3 test runs"],
      [2, undefined, "2 inputs = 2 test runs"],
      [120, 3, "120 inputs × 3 repeats = 360 test runs"],
      [1, 2, "1 input × 2 repeats = 2 test runs"],
      [1_000, 20, "1,000 inputs × 20 repeats = 20,000 test runs"],
      [2, "three", "2 inputs = 2 test runs"],
    ];
    for (const [inputs, repeats, text] of texts) assert.equal(runsText(inputs, repeats), text);
  });
});

suite("the inputs of chosen traces", () => {
  const item = (traceId: string, input: string | null, unread = false) => ({ traceId, input, unread });

  test("are added with a note on those left out", () => {
    const items = [
      item("1", "Hi"),
      item("2", "Hi"),
      item("3", "Known"),
      item("4", null),
      item("5", null, true),
      item("6", "x".repeat(100_001)),
    ];
    assert.deepEqual(pickedFrom(items, 7, ["Known"]), {
      inputs: ["Hi"],
      note: "Left out: 2 already in the test or chosen twice, 2 deleted or without user input, 1 in traces too large to read, 1 too long or with characters that cannot be stored.",
    });
    assert.deepEqual(pickedFrom([item("1", "Hi")], 1, []), { inputs: ["Hi"], note: "" });
  });
});

suite("undoing", () => {
  const rows = (...inputs: string[]) => inputs.map(input => ({ input }));
  test("an addition keeps rows that were edited or added since", () =>
    assert.deepEqual(
      withoutAdded(rows("a", "b", "c, edited", "d", "new"), ["b", "c", "d"]),
      rows("a", "c, edited", "new"),
    ));
  test("an addition removes the later of two equal rows", () =>
    assert.deepEqual(withoutAdded(rows("a", "b", "a"), ["a"]), rows("a", "b")));
  test("a paste puts its text in the place of its rows, and keeps rows that were edited, moved or added since", () => {
    assert.deepEqual(asOneInput(rows("1", "a", "b", "2"), ["a", "b"], "a\nb"), rows("1", "a\nb", "2"));
    assert.deepEqual(
      asOneInput(rows("1, edited", "new", "a", "b, edited", "c"), ["a", "b", "c"], "a\nb\nc"),
      rows("1, edited", "new", "a\nb\nc", "b, edited"),
    );
    assert.deepEqual(asOneInput(rows("1"), ["a"], "a\n"), rows("1", "a\n"));
  });
  test("the removal of all rows keeps what was typed since", () =>
    assert.deepEqual(withRemoved(rows("", "new"), rows("a", "b")), rows("a", "b", "new")));
});
