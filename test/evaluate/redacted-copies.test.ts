// Redacted places in copies: a value is copied from its start, a passage from anywhere, and what is not known has no mark.
import assert from "node:assert/strict";
import { test } from "node:test";
import { RedactedCopies } from "../../src/evaluate/redacted-copies.ts";
import type { Check } from "../../src/model/run/run.ts";
import { derive } from "../../src/model/trace/derive.ts";
import { root, traceOf } from "./makers.ts";

/** `‹` and `›` stand for the marks around redacted places. */
function copiesOf(attributes: Record<string, unknown>): RedactedCopies {
  const marked = JSON.parse(JSON.stringify(attributes).replaceAll("‹", "\uFDD0").replaceAll("›", "\uFDD1"));
  const trace = traceOf(root(marked));
  return new RedactedCopies(["email"], () => ({ spans: trace.spans, derived: derive(trace) }));
}

const reply = "gen_ai.response.text";

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
  (copies.marked(given).redactions ?? []).map(({ path, places }) => [path, ...places]);

test("a value that was cut has the places of the start of its text, however often that repeats", () => {
  const copies = copiesOf({ [reply]: `[email] ‹[email]› ${"[email] ‹[email]› ".repeat(50)}` });
  assert.deepEqual(placesOf(copies, check({ actual: "[email] [email] [ema…" })), [["actual", [8, 15]]]);
});

test("a passage that occurs once has its places, behind the mark of what is left out before it", () => {
  const copies = copiesOf({ [reply]: "I typed [email], not ‹[email]›, and wrote" });
  const match = { before: "…[email], not [email], ", text: "and", after: " wrote" };
  assert.deepEqual(placesOf(copies, check({ match })), [["match.before", [14, 21]]]);
});

test("a passage that occurs more than once has none, and neither has a text that is not in the trace", () => {
  const copies = copiesOf({ [reply]: "to [email], to ‹[email]›" });
  const match = { before: "", text: "to", after: " [email]" };
  assert.deepEqual(placesOf(copies, check({ match })), []);
  assert.deepEqual(placesOf(copies, check({ actual: "from [email]" })), []);
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
  const copies = new RedactedCopies(["email"], () => assert.fail("it is read again"));
  const plain = check({ actual: "nothing", match: { before: "a", text: "b", after: "[order]" } });
  assert.equal(copies.marked(plain), plain);
});
