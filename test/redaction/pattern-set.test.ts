// Many patterns in one automaton occur where each occurs alone, whatever was read before.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compilePattern } from "../../src/model/test-case/pattern.ts";
import { compilePatternSet } from "../../src/redaction/pattern-set.ts";
import { Text } from "../../src/redaction/units.ts";

const patterns = [
  { source: "jane", flags: "i" },
  { source: "\\bab\\b", flags: "" },
  { source: "^x.*$", flags: "m" },
  { source: "^\\{", flags: "" },
  { source: "a$", flags: "" },
  { source: "a.b", flags: "" },
  { source: "[😀-🙏]{2}", flags: "" },
  { source: "\\p{Greek}", flags: "" },
  { source: "(?:a|b)*a(?:a|b){6}c", flags: "" },
  { source: "[a-z@0-9 ]{8,20}#1[A-Z]{2}", flags: "" },
];
const alone = patterns.map(({ source, flags }) => compilePattern(source, flags));
const open = () => compilePatternSet(patterns.map((pattern, at) => ({ ...pattern, size: alone[at]!.size })))!;

const piece = fc.constantFrom(
  ..."jane|JANE|ab|x|{|a|b|c|😀|😁|\ud83d|\ude00|α|\n| |#1AB|abcdefgh|@|é|日本".split("|"),
);
const text = fc.array(piece, { maxLength: 30 }).map(pieces => pieces.join(""));

test("the patterns of a set occur where each occurs alone, and reading other texts before changes nothing", () => {
  const set = open();
  fc.assert(
    fc.property(text, one => {
      const expected = alone.flatMap((pattern, at) => (pattern.occursIn(one) ? [at] : []));
      assert.deepEqual(set.occurring(new Text(one)), expected);
    }),
    { numRuns: 2_000 },
  );
});

/** All may be reached at once, in any combination: no memory has room for the states of a long text. */
function manyStates(length: number, bytesMax?: number) {
  const size = 3 * length;
  const some = [0, 1, 2].map(at => ({ source: `(?:a|b)*a(?:a|b){${length + at}}c`, flags: "", size }));
  return compilePatternSet(some, bytesMax)!;
}

test("a set gives up on a text that needs too many states", () => {
  const set = manyStates(200);
  let seed = 1;
  const random = (size: number) =>
    Array.from({ length: size }, () => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return seed >>> 31 === 0 ? "a" : "b";
    }).join("");
  const texts = [random(60_000), "abc", random(2_000), "b".repeat(100_000)];
  assert.deepEqual(
    texts.map(one => set.occurring(new Text(one))),
    [null, [], [], []],
  );
});

test("a set gives up on the same texts, whatever it read before", () => {
  // Room for about half of these texts, if it is all theirs.
  const open = () => manyStates(12, 50_000);
  const set = open();
  const given = new Set<boolean>();
  const letters = fc
    .array(fc.constantFrom("a", "b"), { minLength: 0, maxLength: 600, size: "max" })
    .map(all => all.join(""));
  fc.assert(
    fc.property(letters, one => {
      const fresh = open().occurring(new Text(one));
      given.add(fresh !== null);
      assert.deepEqual(set.occurring(new Text(one)), fresh);
    }),
    { numRuns: 200 },
  );
  assert.equal(given.size, 2);
});
