// Expected arguments of a tool call: subsets, exactness, and the operators at their leaves.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import {
  argumentDifferences as differencesWithin,
  type Mode,
  argumentsMatch as matchWithin,
  TooMuchToCompare,
} from "../../src/evaluate/arguments.ts";
import { deepEqual } from "../../src/evaluate/equality.ts";
import { RunBudget } from "../../src/model/run/budget.ts";

type Case = [expected: unknown, actual: unknown, partial: boolean, exact: boolean];

const cases: Case[] = [
  [{}, {}, true, true],
  [{}, { a: 1 }, true, false],
  [{ a: 1 }, { a: 1, b: 2 }, true, false],
  [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }, true, false],
  [{ a: 1 }, { b: 1 }, false, false],
  [{ a: null }, { a: null }, true, true],
  [{ a: null }, {}, false, false],
  [{ a: 1 }, { a: "1" }, false, false],
  [{ a: 1 }, [1], false, false],
  [{ a: 1 }, null, false, false],
  [null, null, true, true],
  ["x", "x", true, true],
  [["b"], ["a", "b"], true, false],
  [["b", "a"], ["a", "b"], true, false],
  [["a", "b"], ["a", "b"], true, true],
  [["c"], ["a", "b"], false, false],
  [[{ id: 1 }], [{ id: 2 }, { id: 1, n: 5 }], true, false],
  [[], ["a"], true, false],
  [{ a: { $regex: "^A-\\d+$" } }, { a: "A-12" }, true, true],
  [{ a: { $regex: "^A" } }, { a: 12 }, false, false],
  [{ a: { $in: [1, { b: 2 }] } }, { a: { b: 2 } }, true, true],
  [{ a: { $in: [1, 2] } }, { a: 3 }, false, false],
  [{ a: { $gt: 1 } }, { a: 1 }, false, false],
  [{ a: { $gt: 1 } }, { a: 1.5 }, true, true],
  [{ a: { $gte: 1 } }, { a: 1 }, true, true],
  [{ a: { $lt: 1 } }, { a: 1 }, false, false],
  [{ a: { $lte: 1 } }, { a: 1 }, true, true],
  [{ a: { $gt: 1000 } }, { a: "5000" }, true, true],
  [{ a: { $lt: 1000 } }, { a: " -5000.50 " }, true, true],
  [{ a: { $gte: 1000 } }, { a: "1e3" }, true, true],
  [{ a: { $gt: "9007199254740992" } }, { a: "+9007199254740993" }, true, true],
  [{ a: { $gt: 1 } }, { a: "5 EUR" }, false, false],
  [{ a: { $gt: 1 } }, { a: "5,000" }, false, false],
  [{ a: { $gte: 0 } }, { a: "" }, false, false],
  [{ a: { $lt: 1 } }, { a: "0x0" }, false, false],
  [{ a: { $regex: "^12$" } }, { a: 12 }, true, true],
  [{ a: { $regex: "^10\\s€$" } }, { a: "10\u00a0€" }, true, true],
  [{ a: { $regex: "^refund$" } }, { a: "re\u200bfund" }, true, true],
  [{ a: { $literal: { $gt: 5 } } }, { a: { $gt: 5 } }, true, true],
  [{ a: { $literal: { $gt: 5 } } }, { a: 6 }, false, false],
  [{ a: { $literal: { $gt: 5 } } }, { a: { $gt: 5, b: 1 } }, true, false],
  [{ $literal: { b: { $in: [1], $literal: 2 } } }, { b: { $in: [1], $literal: 2 } }, true, true],
  [{ a: { $literal: null } }, {}, false, false],
  [{ a: [{ $literal: { $x: 1 } }, { $gt: 1 }] }, { a: [{ $x: 1 }, 2] }, true, true],
  [{ a: { $gt: -1, $lt: 0 } }, { a: " -.5e0 " }, true, true],
  [{ a: { $gte: 1, $lt: 5 } }, { a: 5 }, false, false],
  [{ a: { $exists: true } }, { a: null }, true, true],
  [{ a: { $exists: true } }, {}, false, false],
  [{ a: { $exists: false } }, {}, true, true],
  [{ a: { $exists: false } }, { a: 1 }, false, false],
  [{ a: { $exists: true, $gt: 1 } }, { a: 2 }, true, true],
  [[{ $gt: 1 }], [0, 2], true, false],
  [{ a: "9007199254740992" }, { a: "9007199254740993" }, false, false],
  [{ a: 9007199254740992 }, { a: "9007199254740992" }, true, true],
  [{ a: 9007199254740992 }, { a: "9007199254740993" }, false, false],
  [{ a: "100000000000000000000" }, { a: 1e20 }, true, true],
  [{ a: { $in: [1e20] } }, { a: "100000000000000000000" }, true, true],
  [{ a: { $gt: 9007199254740992 } }, { a: "9007199254740993" }, true, true],
  [{ a: { $gt: "9007199254740993" } }, { a: "9007199254740993" }, false, false],
  [{ a: { $gte: "9007199254740993" } }, { a: "9007199254740993" }, true, true],
  [{ a: { $lt: "9007199254740993" } }, { a: 9007199254740992 }, true, true],
  [{ a: { $lte: "-9007199254740993" } }, { a: -5.5 }, false, false],
  [{ a: { $lt: "9007199254740993" } }, { a: "5" }, true, true],
  [{ toString: 1 }, {}, false, false],
  [{}, { toString: 1 }, true, false],
  [JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}'), true, true],
  [JSON.parse('{"__proto__":{}}'), {}, false, false],
];

const argumentsMatch = (expected: unknown, actual: unknown, mode: Mode) =>
  matchWithin(expected, actual, mode, new RunBudget());
const argumentDifferences = (expected: unknown, actual: unknown, mode: Mode) =>
  differencesWithin(expected, actual, mode, new RunBudget());

suite("arguments", () => {
  for (const [expected, actual, partial, exact] of cases) {
    test(`${JSON.stringify(expected)} of ${JSON.stringify(actual)}: partial ${partial}, exact ${exact}`, () => {
      assert.equal(argumentsMatch(expected, actual, "partial"), partial);
      assert.equal(argumentsMatch(expected, actual, "exact"), exact);
      assert.equal(argumentDifferences(expected, actual, "partial").length === 0, partial);
      assert.equal(argumentDifferences(expected, actual, "exact").length === 0, exact);
    });
  }

  test("differences name their places, what was expected and what was there", () => {
    const differences = argumentDifferences(
      { a: 1, b: [{ c: 2 }], "d e": 3 },
      { a: 2, b: [], f: 4 },
      "partial",
    );
    assert.deepEqual(differences, [
      { path: "a", expected: 1, actual: 2 },
      { path: "b[0]", expected: { c: 2 } },
      { path: '["d e"]', expected: 3 },
    ]);
    assert.deepEqual(argumentDifferences({}, { f: 4 }, "exact"), [
      { path: "f", expected: { $exists: false }, actual: 4 },
    ]);
  });

  test("at most ten differences are listed", () => {
    const expected = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, at]));
    assert.equal(argumentDifferences(expected, {}, "partial").length, 10);
  });

  test("lists too large to compare item by item are given up, not judged", () => {
    const items = Array.from({ length: 3000 }, (_, at) => ({ n: at }));
    assert.throws(() => argumentsMatch(items.toReversed(), items, "partial"), TooMuchToCompare);
    assert.ok(argumentsMatch(items, items, "exact"));
  });

  test("without operators, exact is deep equality, and what is equal is a subset", () => {
    const value = fc.jsonValue().filter(json => !JSON.stringify(json).includes("$"));
    fc.assert(
      fc.property(value, value, (a, b) => {
        assert.equal(argumentsMatch(a, b, "exact"), deepEqual(a, b));
        assert.ok(argumentsMatch(a, structuredClone(a), "exact"));
        assert.ok(argumentsMatch(a, structuredClone(a), "partial"));
      }),
    );
  });
});
