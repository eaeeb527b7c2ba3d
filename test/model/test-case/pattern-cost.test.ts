// Patterns that would block the process are refused before they are compiled, and normal ones never.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Refusal } from "../../../src/model/refusal.ts";
import { compilePattern, PatternFault } from "../../../src/model/test-case/pattern.ts";
import { patternCost } from "../../../src/model/test-case/pattern-cost.ts";
import { parseDraft } from "../../../src/model/test-case/test-case.ts";

const regex = (pattern: string) => ({ type: "response_regex", pattern, flags: "i" });
const called = (...patterns: string[]) => ({
  type: "tool_call",
  expected_name: "search",
  expected_arguments: { filters: patterns.map($regex => ({ text: { $regex } })) },
});
const draft = (...assertions: object[]) => parseDraft({ name: "A test", assertions });

const costly: [what: string, path: string, assertions: object[]][] = [
  ["counts", "[0].pattern", [regex("a{1000}".repeat(140))]],
  ["a count of a group", "[0].pattern", [regex(`(${".".repeat(900)}){1000}`)]],
  [
    "a count of a group that a class seems to open",
    "[0].pattern",
    [regex(`[[:alpha:](](${"b".repeat(100)}){1000}`)],
  ],
  ["a count of a group behind a quoted text", "[0].pattern", [regex(`\\Q[(\\E(${"b".repeat(100)}){1000}`)]],
  ["wide ranges", "[0].pattern", [regex(`[${"B-\u{1E942}".repeat(240)}]`)]],
  ["wide ranges by number", "[0].pattern", [regex("[\\u{42}-\\u{1E942}]".repeat(40))]],
  [
    "classes of Unicode",
    "[1].pattern",
    [regex("\\p{L}".repeat(190)), regex(`[${"\\p{L}\\P{L}".repeat(98)}]`)],
  ],
  [
    "many of which each would do",
    "[49].pattern",
    Array.from({ length: 100 }, (_, at) => regex(`a{1000}${at}`)),
  ],
  [
    "operands",
    "[1].expected_arguments.filters[49].text.$regex",
    [regex("a"), called(...Array.from({ length: 60 }, (_, at) => `a{1000}${at}`))],
  ],
  [
    "many small operands",
    "[0].expected_arguments.filters[4545].text.$regex",
    [called(...Array.from({ length: 6_000 }, () => "a"))],
  ],
];
// Refused for its cost alone: other errors come from compiling.
const isTooCostly = (path: string) => (error: unknown) => {
  assert.ok(error instanceof Refusal);
  assert.deepEqual(
    error.issues?.map(issue => issue.path),
    [`assertions${path}`],
  );
  assert.match(error.issues![0]!.message, /too long to compile/);
  return true;
};
for (const [what, path, assertions] of costly) {
  test(`${what} are refused before they are compiled`, () => {
    assert.throws(() => draft(...assertions), isTooCostly(path));
  });
}

test("expensive patterns are refused also when the document has other errors", () => {
  const assertions = Array.from({ length: 20 }, (_, at) => regex(`${"a{1000}".repeat(140)}${at}`));
  assert.throws(() => parseDraft({ name: 1, assertions }), isTooCostly("[0].pattern"));
});

test("a test case full of normal patterns is accepted", () => {
  const honest = [
    "(?:order|parcel) .{0,200}(?:shipped|sent) on \\d{4}-\\d{2}-\\d{2}",
    "[а-яё]{1,50} [\\u4e00-\\u9fff]+",
    "^[\\w.+-]{1,64}@[\\w-]{1,63}(?:\\.[\\w-]{1,63}){1,4}$",
    "\\p{Lu}\\p{L}+",
  ];
  assert.equal(
    draft(...Array.from({ length: 100 }, (_, at) => regex(honest[at % 4]!))).assertions.length,
    100,
  );
  assert.throws(() => draft(regex("a{2000}")), /repeat count/);
});

test("no pattern compiles to much more than its estimated cost", () => {
  const part = fc.constantFrom(
    ..."ab.([)]|*?^$\\-:",
    ...["{2}", "{9,}", "{1,30}", "{0}", "(?:", "[^", "[]", "[[:alpha:]", "\\Q", "\\E", "\\pL", "\\]", "\\("],
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), parts => {
      const pattern = parts.join("");
      try {
        const { size } = compilePattern(pattern);
        assert.ok(size <= 3 * patternCost(pattern), `${size} instructions cost ${patternCost(pattern)}`);
      } catch (error) {
        assert.ok(error instanceof PatternFault, String(error));
      }
    }),
    { numRuns: 3_000 },
  );
});
