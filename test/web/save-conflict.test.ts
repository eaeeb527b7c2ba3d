// Saving a test case that was changed in the meantime: whose change it is.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestCaseDocument } from "../../src/model/test-case/document.ts";
import { changeSince } from "../../web/pages/test/conflict.ts";

const read: TestCaseDocument = {
  name: "Refunds",
  status: "active",
  passiveBehavior: "always_run",
  scenario: "",
  threshold: 0.7,
  turns: [{ input: "Refund me" }],
  assertions: [],
};
const mine = { ...read, name: "Refunds in a day" };

test("nothing has changed, whatever the order of fields", () => {
  const { name, ...rest } = read;
  assert.equal(changeSince(read, { ...rest, name }, mine), "unchanged");
});

test("what was about to be saved is saved already, as after an answer that was lost", () => {
  assert.equal(changeSince(read, { ...mine }, mine), "saved");
});

test("somebody else's change is a conflict, also of a field that is gone or new", () => {
  assert.equal(changeSince(read, { ...read, name: "Returns" }, mine), "conflict");
  assert.equal(changeSince(read, { ...read, repeats: 3 }, mine), "conflict");
  assert.equal(changeSince({ ...read, repeats: 3 }, read, { ...mine, repeats: 3 }), "conflict");
});
