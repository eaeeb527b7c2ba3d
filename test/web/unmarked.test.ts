// What is wrong with a form is said, also where no field can be marked.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Failure } from "../../web/api.ts";
import { unmarked } from "../../web/forms/unmarked.ts";

const failure = { code: "VALIDATION_ERROR", status: 400, message: "No." } satisfies Failure;
const isMarked = (path: string) => path.startsWith("rules[");
const ofRow = { path: "rules[1].name", message: "Too long." };
const ofAll = { path: "rules", message: "At most 20." };

test("issues at fields are said there, the others below", () => {
  assert.equal(unmarked({ ...failure, issues: [ofRow] }, isMarked), undefined);
  assert.deepEqual(unmarked({ ...failure, issues: [ofRow, ofAll] }, isMarked), {
    ...failure,
    issues: [ofAll],
  });
});

test("an error without issues is said below", () => {
  assert.deepEqual(unmarked(failure, isMarked), { ...failure, issues: [] });
});
