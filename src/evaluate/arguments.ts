// Whether the arguments of a tool call are the expected ones, and where they are not.

import { isSameScalar, magnitudeOf, numberIn } from "../model/long-integers.ts";
import { step } from "../model/path.ts";
import { isRecord } from "../model/record.ts";
import type { RunBudget } from "../model/run/budget.ts";
import { literalOf, type Operators, operatorsOf } from "../model/test-case/operators.ts";
import { deepEqual } from "./equality.ts";
import { excerpt } from "./excerpt.ts";
import { affordPattern, isSearchedInline } from "./pattern-search.ts";
import type { Unknown } from "./redacted.ts";

export type Mode = "partial" | "exact";

/** `actual` is left out where nothing stands at `path`. */
export type Difference = { path: string; expected: unknown; actual?: unknown };

/** Comparing lists item by item can take as many steps as both have items, multiplied; past this it is given up. */
const stepsMax = 1_000_000;
const differencesMax = 10;

type Budget = Pick<RunBudget, "spend" | "timed">;

export class TooMuchToCompare extends Error {
  override name = "TooMuchToCompare";
}

/**
 * Partial: every expected field is there and every expected list item is found among the actual items, at any
 * depth. Exact: nothing else is there either, and lists agree item by item. Throws TooMuchToCompare or BudgetSpent.
 */
export function argumentsMatch(
  expected: unknown,
  actual: unknown,
  mode: Mode,
  budget: Budget,
  unknown?: Unknown,
): boolean {
  return new Comparison(mode, budget, unknown).holds(expected, actual, "", false);
}

/** Where the arguments differ, at most ten places. Throws TooMuchToCompare or BudgetSpent. */
export function argumentDifferences(
  expected: unknown,
  actual: unknown,
  mode: Mode,
  budget: Budget,
): Difference[] {
  const comparison = new Comparison(mode, budget);
  comparison.holds(expected, actual, "", true);
  return comparison.differences;
}

const absent = Symbol("absent");

/** Recursion goes only as deep as what is expected, which is at most 200 levels. */
class Comparison {
  readonly differences: Difference[] = [];
  readonly #mode: Mode;
  readonly #budget: Budget;
  readonly #unknown: Unknown | undefined;
  #steps = 0;
  #isLiteral = false;

  constructor(mode: Mode, budget: Budget, unknown?: Unknown) {
    this.#mode = mode;
    this.#budget = budget;
    this.#unknown = unknown;
  }

  /** With `note`, goes on after the first difference and keeps a list. */
  holds(expected: unknown, actual: unknown, path: string, note: boolean): boolean {
    this.#steps += 1;
    if (this.#steps > stepsMax) throw new TooMuchToCompare();
    this.#budget.spend(1);
    const literal = this.#isLiteral ? undefined : literalOf(expected);
    if (literal) return this.#literalHolds(literal.value, actual, path, note);
    const operators = this.#isLiteral ? null : operatorsOf(expected);
    if (this.#unknown && this.#isUnknown(operators, actual, this.#unknown)) return this.#unknown.as;
    if (operators)
      return this.#noted(operatorsHold(operators, actual, this.#budget), expected, actual, path, note);
    if (isRecord(expected) && isRecord(actual)) return this.#recordHolds(expected, actual, path, note);
    if (Array.isArray(expected) && Array.isArray(actual))
      return this.#listHolds(expected, actual, path, note);
    return this.#noted(isSameScalar(expected, actual), expected, actual, path, note);
  }

  #literalHolds(expected: unknown, actual: unknown, path: string, note: boolean): boolean {
    this.#isLiteral = true;
    const holds = this.holds(expected, actual, path, note);
    this.#isLiteral = false;
    return holds;
  }

  /** Of an object with a changed text only operators are unknown: they compare it as a whole. */
  #isUnknown(operators: Operators | null | undefined, actual: unknown, { isIn }: Unknown): boolean {
    if (operators && Object.keys(operators).every(name => name === "$exists")) return false;
    if (typeof actual === "string") return isIn(actual);
    return Boolean(operators) && typeof actual === "object" && isIn(JSON.stringify(actual));
  }

  #recordHolds(expected: Fields, actual: Fields, path: string, note: boolean): boolean {
    let all = true;
    for (const key of Object.keys(expected)) {
      const found = Object.hasOwn(actual, key) ? actual[key] : absent;
      all = this.holds(expected[key], found, path + step(key), note) && all;
      if (!all && !note) return false;
    }
    if (this.#mode === "partial") return all;
    const keys = Object.keys(actual);
    this.#budget.spend(keys.length);
    for (const key of keys) {
      if (Object.hasOwn(expected, key)) continue;
      all = this.#noted(false, absent, actual[key], path + step(key), note);
      if (!note) return false;
    }
    return all;
  }

  #listHolds(expected: unknown[], actual: unknown[], path: string, note: boolean): boolean {
    if (this.#mode === "exact" && expected.length !== actual.length) {
      return this.#noted(false, expected, actual, path, note);
    }
    let all = true;
    for (const [at, item] of expected.entries()) {
      const found =
        this.#mode === "exact"
          ? this.holds(item, actual[at], path + step(at), note)
          : this.#noted(this.#isAmong(item, actual), item, absent, path + step(at), note);
      all = found && all;
      if (!all && !note) return false;
    }
    return all;
  }

  #isAmong(item: unknown, actual: unknown[]): boolean {
    return actual.some(candidate => this.holds(item, candidate, "", false));
  }

  #noted(holds: boolean, expected: unknown, actual: unknown, path: string, note: boolean): boolean {
    if (!holds && note && this.differences.length < differencesMax) {
      this.differences.push({
        path: path.replace(/^\./, ""),
        expected: expected === absent ? { $exists: false } : excerpt(expected),
        ...(actual === absent ? {} : { actual: excerpt(actual) }),
      });
    }
    return holds;
  }
}

function operatorsHold(operators: Operators, actual: unknown, budget: Budget): boolean {
  const { $regex, $in, $gt, $gte, $lt, $lte, $exists } = operators;
  if ($exists !== undefined && $exists !== (actual !== absent)) return false;
  if ($regex !== undefined) {
    const text = typeof actual === "number" ? String(actual) : actual;
    if (!(typeof text === "string" && occurs($regex, text, budget))) return false;
  }
  if ($in !== undefined && !$in.some(choice => deepEqual(choice, actual, budget))) return false;
  const value = typeof actual === "string" ? numberIn(actual) : magnitudeOf(actual);
  const fits = (operand: number | string | undefined, compare: Compare) => {
    if (operand === undefined) return true;
    const limit = magnitudeOf(operand);
    return value !== undefined && limit !== undefined && compare(value, limit);
  };
  return (
    fits($gt, (value, limit) => value > limit) &&
    fits($gte, (value, limit) => value >= limit) &&
    fits($lt, (value, limit) => value < limit) &&
    fits($lte, (value, limit) => value <= limit)
  );
}

function occurs(source: string, text: string, budget: Budget): boolean {
  const pattern = affordPattern(source, "", budget);
  if (!isSearchedInline(pattern, text)) throw new TooMuchToCompare();
  return budget.timed(() => pattern.occursIn(pattern.read(text).text));
}

type Compare = (value: number | bigint, limit: number | bigint) => boolean;

type Fields = Record<string, unknown>;
