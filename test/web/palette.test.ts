// How the palette ranks commands, and what it takes for the id of a trace.
import assert from "node:assert/strict";
import { test } from "node:test";
import { externalIdOf, type Ranked, rank, traceIdOf, withUsed } from "../../web/shell/palette-rank.ts";

const commands: Ranked[] = [
  { id: "agents", label: "Agents" },
  { id: "keys", label: "Keys" },
  { id: "new-key", label: "Create key" },
  { id: "r203", label: "Robot 203: traces", more: true },
  { id: "r3", label: "Robot 3: traces", more: true },
  { id: "test", label: "Disable test: Answers politely", more: true },
  { id: "monkey", label: "Project: Monkey" },
];

const ids = (text: string, recent: string[] = []) => rank(commands, text, recent).map(({ id }) => id);

test("without text, used commands come first, and those of which there may be hundreds only if used", () => {
  assert.deepEqual(ids(""), ["agents", "keys", "new-key", "monkey"]);
  assert.deepEqual(ids(" ", ["r3", "monkey"]), ["r3", "monkey", "agents", "keys", "new-key"]);
});

test("better matches come first, then the latest used", () => {
  const cases: [text: string, recent: string[], found: string[]][] = [
    ["keys", [], ["keys"]],
    ["key", [], ["new-key", "keys", "monkey"]],
    ["robot 3", [], ["r3", "r203"]],
    ["3 ROBOT", [], ["r3", "r203"]],
    ["traces", ["r3"], ["r3", "r203"]],
    ["politely disable", [], ["test"]],
    ["create key", ["monkey"], ["new-key"]],
    ["ag", ["monkey"], ["agents"]],
    ["nothing", [], []],
  ];
  for (const [text, recent, found] of cases) assert.deepEqual(ids(text, recent), found, text);
});

test("hundreds of tests are ranked in a few milliseconds", () => {
  const many = Array.from({ length: 3_000 }, (_, at) => ({ id: String(at), label: `Test: Answers ${at}` }));
  const begun = process.cpuUsage();
  for (let round = 0; round < 10; round++) rank(many, "test answers 1", []);
  // A key press has 150 ms. Time of the CPU: a busy machine takes longer.
  const { user, system } = process.cpuUsage(begun);
  assert.ok((user + system) / 1_000 / 10 < 100);
});

test("a used command moves to the front, and the list stays short", () => {
  assert.deepEqual(withUsed(["a", "b", "c"], "b"), ["b", "a", "c"]);
  assert.equal(
    withUsed(
      Array.from({ length: 40 }, (_, at) => String(at)),
      "x",
    ).length,
    30,
  );
});

test("a trace id is read as it was pasted", () => {
  const id = "01a207e8-66c2-41e6-86f9-ca91598ab758";
  for (const text of [
    id,
    ` ${id}\n`,
    id.toUpperCase(),
    `"${id}"`,
    id.replaceAll("-", ""),
    "01a207e8 66c2 41e6 86f9 ca91 598a b758",
  ]) {
    assert.equal(traceIdOf(text), id, text);
  }
  for (const text of ["", "keys", id.slice(1), `${id}0`, id.replace("0", "g")]) {
    assert.equal(traceIdOf(text), undefined, text);
  }
});

test("an external id has a digit and is long enough to be looked up", () => {
  assert.equal(externalIdOf(" order-17 "), "order-17");
  for (const text of ["agents", "a1", "naïve-123", "x1".repeat(200)]) {
    assert.equal(externalIdOf(text), undefined, text);
  }
});
