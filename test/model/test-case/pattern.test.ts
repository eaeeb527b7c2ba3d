// Patterns have JavaScript's meaning, as far as linear time allows, and never throw.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compilePattern, PatternFault, patternMax } from "../../../src/model/test-case/pattern.ts";
import { searchedPattern } from "../../../src/model/test-case/pattern-invisible.ts";
import { ecmaSpace } from "../../../src/model/test-case/pattern-syntax.ts";

const cases: [pattern: string, flags: string, text: string, occurs: boolean][] = [
  ["refund", "", "a refund of 5", true],
  ["refund", "", "a Refund of 5", false],
  ["refund", "i", "a Refund of 5", true],
  ["^b$", "", "a\nb\nc", false],
  ["^b$", "m", "a\nb\nc", true],
  ["a.b", "", "a\nb", false],
  ["a.b", "s", "a\nb", true],
  ["caf\\u00e9", "", "a café", true],
  ["\\u{1F600}", "", "so 😀", true],
  ["\\\\u0041", "", "\\u0041", true],
  ["\\p{L}+ß", "", "Straß", true],
  ["(?<year>\\d{4})", "", "in 2024", true],
  ["a\0b", "", "a\0b", true],
  ["10\\s€", "", "10\u00a0€", true],
  ["10\\s?€", "", "10\u202f€", true],
  ["合計[\\s]100", "", "合計\u3000100", true],
  ["^[^\\s]+$", "", "a\u2003b", false],
  ["^[\\S]+$", "", "a\u00a0b", false],
  ["^\\S+$", "", "a\u0085b", false],
  ["a[\\s-]b", "", "a-b", true],
  ["\\Q\\s\\E", "", "\\s", true],
  ["\\Q\\s\\E", "", " ", false],
  ["[[:alpha:]\\s]{3}", "", "a\u00a0b", true],
  ["größe", "i", "GRÖSSE GRÖßE", true],
  ["straẞe", "i", "STRAßE", true],
  ["ПРИВЕТ", "i", "привет", true],
  ["ΣΑΣ", "i", "σας", true],
  ["[а-я]+", "i", "ПРИВЕТ", true],
];

for (const [pattern, flags, text, occurs] of cases) {
  test(`/${pattern.replace("\0", "\\0")}/${flags} ${occurs ? "occurs" : "does not occur"} in ${JSON.stringify(text)}`, () => {
    assert.equal(compilePattern(pattern, flags).occursIn(text), occurs);
  });
}

test("the white space of schemas is that of ECMA-262", () => {
  const characters = Array.from({ length: 0xd800 }, (_, code) => String.fromCharCode(code)).concat(
    "\ufeff",
    "\uffff",
  );
  for (const pattern of ["\\s", "\\S", "[\\s]", "[^\\S]"]) {
    const [ours, javaScripts] = [compilePattern(pattern, "", ecmaSpace), new RegExp(pattern, "u")];
    const differing = characters.filter(one => ours.occursIn(one) !== javaScripts.test(one));
    assert.deepEqual(differing, [], pattern);
  }
});

for (const [pattern, source] of [
  ["re\u200bfund", "refund"],
  ["\u00adrefund$", "refund$"],
  ["❤️", "❤"],
  ["\u200b", null],
  ["a|\u200b", null],
  ["(?:\u200b)", null],
  ["a\u200b*", null],
  ["[\u200b-\u200d]", null],
  ["a{1\u200b}", null],
  ["\\Qa\\\u200bE", null],
  ["\\u200B", null],
  ["\\x{ad}", null],
  ["\\x00", null],
  ["\\p{Cf}", null],
  ["[[:cntrl:]]", null],
  ["\\u00e9\\p{L}", "\\u00e9\\p{L}"],
] as const) {
  const what = source === null ? "looks for invisible characters" : `is searched for as ${source}`;
  test(`${JSON.stringify(pattern)} ${what}`, () => {
    assert.deepEqual(searchedPattern(pattern), { source: source ?? pattern, seesInvisible: source === null });
  });
}

test("a match is found at its position", () => {
  assert.deepEqual(compilePattern("\\d+").find("order 123 of 5"), { start: 6, end: 9 });
  assert.equal(compilePattern("\\d+").find("none"), null);
});

test("a pattern with catastrophic backtracking is answered immediately", () => {
  assert.equal(compilePattern("^(a+)+$").occursIn(`${"a".repeat(100_000)}!`), false);
});

test("a recently compiled pattern is not compiled again", () => {
  assert.equal(compilePattern("once", "i"), compilePattern("once", "i"));
  assert.notEqual(compilePattern("once", "i"), compilePattern("once", "s"));
});

test("a pattern longer than the limit is refused", () => {
  assert.throws(() => compilePattern("a".repeat(patternMax + 1)), PatternFault);
});

test("every pattern compiles or is refused, and every compiled pattern can be searched for", () => {
  const part = fc.constantFrom(..."()[]{}|*+?.^$\\abk<=!:-&,0123456789PQEpuxi");
  const pattern = fc.oneof(
    fc.string({ unit: part, maxLength: 12 }),
    fc.string({ unit: "binary", maxLength: 12 }),
  );
  fc.assert(
    fc.property(pattern, fc.string({ unit: "binary" }), (source, text) => {
      try {
        const compiled = compilePattern(source);
        assert.equal(compiled.find(text) !== null, compiled.occursIn(text));
      } catch (error) {
        assert.ok(error instanceof PatternFault, String(error));
      }
    }),
    { numRuns: 500 },
  );
});
