// Which issues of a test case still hold while what was typed since is not validated yet.
import assert from "node:assert/strict";
import { test } from "node:test";
import { currentIssues } from "../../web/pages/test/current-issues.ts";
import { isSameJson } from "../../web/same-json.ts";

const document = {
  name: "",
  scenario: "",
  turns: [{ input: "" }],
  assertions: [
    { id: "a", type: "response_regex", pattern: "(" },
    { id: "b", type: "tool_call", expected_name: "" },
  ],
};
const issues = [
  "",
  "name",
  "turns[0].input",
  "assertions",
  "assertions[0].pattern",
  "assertions[1].expected_name",
  "assertions[1].max",
].map(path => ({ path, message: path }));

const pathsAfter = (changed: object) =>
  currentIssues({ of: document, issues }, { ...document, ...changed }).map(({ path }) => path);
const without = (...gone: string[]) => issues.map(({ path }) => path).filter(path => !gone.includes(path));

test("an unchanged document has all its issues", () => {
  assert.equal(currentIssues({ of: document, issues }, document), issues);
  assert.deepEqual(pathsAfter({}), without());
});

test("the issue of a changed value is gone at once, and others stay", () => {
  assert.deepEqual(pathsAfter({ name: "N" }), without("", "name"));
  assert.deepEqual(pathsAfter({ turns: [{ input: "Hi" }] }), without("", "turns[0].input"));
  const [first, second] = document.assertions;
  assert.deepEqual(
    pathsAfter({ assertions: [first, { ...second, max: 1 }] }),
    without("", "assertions", "assertions[1].max"),
  );
});

test("an issue does not move to another assertion that took the place of its own", () => {
  const [first, second] = document.assertions;
  assert.deepEqual(
    pathsAfter({ assertions: [second, first] }),
    without("", "assertions", "assertions[0].pattern", "assertions[1].expected_name"),
  );
  assert.deepEqual(
    pathsAfter({ assertions: [] }),
    without("", "assertions", "assertions[0].pattern", "assertions[1].expected_name"),
  );
});

test("values are compared as JSON", () => {
  for (const [one, other, isSame] of [
    [{ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }, true],
    [{ a: undefined }, {}, true],
    [{ a: null }, {}, false],
    [[1, 2], [1], false],
    [[1], { 0: 1 }, false],
    ["1", 1, false],
    [{ toString: 1 }, {}, false],
    [null, {}, false],
  ] as const) {
    assert.equal(isSameJson(one, other), isSame, JSON.stringify([one, other]));
  }
});
