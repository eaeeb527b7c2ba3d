// Redacted places in copies: a value is copied from its start, a passage from anywhere, and what is not known has no mark.
// In the judge's words, what stands for a value is known where nobody typed the same.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RedactedCopies } from "../../src/evaluate/redacted-copies.ts";
import type { Check } from "../../src/model/run/run.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { root, traceOf } from "./makers.ts";

/** `‹` and `›` stand for the marks around redacted places. */
function copiesOf(attributes: Record<string, unknown>): RedactedCopies {
  const marked = JSON.parse(JSON.stringify(attributes).replaceAll("‹", "\uFDD0").replaceAll("›", "\uFDD1"));
  const trace = traceOf(root(marked));
  const unmarked = JSON.parse(JSON.stringify(attributes).replaceAll(/[‹›]/g, ""));
  const { spans } = traceOf(root(unmarked));
  return new RedactedCopies(spans, ["email"], () => ({ spans: trace.spans, derived: derive(trace) }));
}

const reply = "gen_ai.response.text";
const plainTest = { scenario: "", assertions: [] };

function check(more: Partial<Check>, attribute = reply): Check {
  const evidence = [{ spanId: "root", attribute }];
  const said = { reason: "", reasonCode: "pattern_found" } as const;
  return {
    ...{ id: "a1", type: "response_regex", outcome: "passed", ...said, expected: null },
    ...{ actual: null, evidence },
    ...more,
  } as Check;
}

const placesOf = (copies: RedactedCopies, given: Check) =>
  (copies.marked(given, plainTest).redactions ?? []).map(({ path, places }) => [path, ...places]);

test("a value that was cut has the places of the start of its text, however often that repeats", () => {
  const copies = copiesOf({ [reply]: `[email] ‹[email]› ${"[email] ‹[email]› ".repeat(50)}` });
  assert.deepEqual(placesOf(copies, check({ actual: "[email] [email] [ema…" })), [["actual", [8, 15]]]);
});

test("a passage that occurs once has its places, behind the mark of what is left out before it", () => {
  const copies = copiesOf({ [reply]: "I typed [email], not ‹[email]›, and wrote" });
  const match = { before: "…[email], not [email], ", text: "and", after: " wrote" };
  assert.deepEqual(placesOf(copies, check({ match })), [["match.before", [14, 21]]]);
});

test("of a passage that occurs more than once, a place counts that was redacted every time", () => {
  const match = { before: "", text: "to", after: " [email], [email]" };
  const copies = copiesOf({ [reply]: "to ‹[email]›, ‹[email]› and to [email], ‹[email]› and once" });
  assert.deepEqual(placesOf(copies, check({ match })), [["match.after", [10, 17]]]);
  const always = copiesOf({ [reply]: "to ‹[email]›, [email]. ".repeat(3) });
  assert.deepEqual(placesOf(always, check({ match })), [["match.after", [1, 8]]]);
});

test("a text that is not in the trace has no places", () => {
  const copies = copiesOf({ [reply]: "to ‹[email]›" });
  assert.deepEqual(placesOf(copies, check({ actual: "from [email]" })), []);
});

const judged = (reason: string, more: object = {}) =>
  check({
    type: "semantic",
    reason: `The judge says: ${reason}`,
    reasonData: { comment: reason },
    actual: { criteria: [{ criterion: "Is kind", verdict: "met", evidence: "", reason }], ...more },
  });

test("in the judge's words, what stands for a value has a mark if nobody typed the same", () => {
  const copies = copiesOf({ [reply]: "write to ‹[email]›", "other.note": "I typed [order]" });
  assert.deepEqual(placesOf(copies, judged("It names [email], not [order].")), [
    ["actual.criteria[0].reason", [9, 16]],
    ["reason", [25, 32]],
    ["reasonData.comment", [9, 16]],
  ]);
  const typed = copiesOf({ [reply]: "write to ‹[email]›", "other.note": "I typed [email]" });
  assert.deepEqual(placesOf(typed, judged("It names [email].")), []);
});

test("in the judge's words, what the test itself says has no mark", () => {
  const copies = copiesOf({ [reply]: "write to ‹[email]›" });
  const test = { scenario: "Somebody writes [email]", assertions: [] };
  assert.equal(copies.marked(judged("It names [email]."), test).redactions, undefined);
  const reasoned = { reason: "It names [email]." };
  assert.equal(copies.markedReason(reasoned, test), reasoned);
});

test("in the judge's words, what was withheld from it alone has a mark", () => {
  const { spans } = traceOf(root({ [reply]: "write to ann@shop.example", "other.note": "I typed [order]" }));
  const copies = new RedactedCopies(spans, [], () => assert.fail("nothing was redacted"));
  const withheld = { rules: ["email", "order"] };
  assert.deepEqual(placesOf(copies, judged("[email], [order]", { withheld })), [
    ["actual.criteria[0].reason", [0, 7]],
    ["reason", [16, 23]],
    ["reasonData.comment", [0, 7]],
  ]);
  const marked = copies.markedReason({ reason: "asks for [email]" }, plainTest, ["email"]);
  const redactions = [{ path: "reason", rule: "email", places: [[9, 16]] }];
  assert.deepEqual(marked, { reason: "asks for [email]", redactions });
});

test("in what the judge says about a trace that is too large to be read twice, nothing has a mark", () => {
  const { spans } = traceOf(root({ [reply]: "write to [email]" }));
  const copies = new RedactedCopies(spans, ["email"], () => null);
  assert.deepEqual(placesOf(copies, judged("It names [email].")), []);
});

test("lists, objects and JSON in text are compared value by value", () => {
  const value = { typed: "[email]", list: ["‹[email]›", 7] };
  const actual = { typed: "[email]", list: ["[email]", 7] };
  for (const held of [value, JSON.stringify(value)]) {
    const copies = copiesOf({ contact: held });
    assert.deepEqual(placesOf(copies, check({ type: "json_match", actual }, "contact")), [
      ["actual.list[0]", [0, 7]],
    ]);
  }
});

test("the trace is not read again for a check whose copies have nothing that stands for a value", () => {
  const copies = new RedactedCopies([], ["email"], () => assert.fail("it is read again"));
  const plain = check({ actual: "nothing", match: { before: "a", text: "b", after: "[order]" } });
  assert.equal(copies.marked(plain, plainTest), plain);
});
