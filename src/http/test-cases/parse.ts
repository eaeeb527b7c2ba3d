// Parses test cases of requests: those with patterns or schemas on a thread, and at a rate per account if they take long to check.

import type { Account } from "../../model/account.ts";
import { isWithin } from "../../model/path.ts";
import type { RedactionRules } from "../../model/redaction.ts";
import type { Issue } from "../../model/refusal.ts";
import type { TestCaseDocument } from "../../model/test-case/document.ts";
import { checkingCost } from "../../model/test-case/pattern-cost.ts";
import {
  assertionsMax,
  documentOf,
  levelsMax,
  mergeTestCase,
  parseDraft,
  parseTestCase,
} from "../../model/test-case/test-case.ts";
import { checkingOf } from "../frame/checking.ts";
import type { App, Deps } from "../frame/deps.ts";
import { limitTrials } from "../frame/rate-limit.ts";

export type Validated = { document: TestCaseDocument; warnings: Issue[] };

export type TestParser = {
  /** All throw VALIDATION_ERROR, and RATE_LIMITED for costly tests. */
  test(account: Account, input: unknown): Promise<TestCaseDocument>;
  draft(account: Account, input: unknown): Promise<TestCaseDocument>;
  /** As `test`, with the warnings about it in a project of this privacy. */
  validated(account: Account, input: unknown, privacy: RedactionRules): Promise<Validated>;
  /**
   * The function that applies the patch to a test. Costly assertions of the patch are checked here, so that the function,
   * which runs in a transaction, does not: `current` is asked for the document that they are checked with.
   */
  change(
    account: Account,
    patch: unknown,
    current: () => Promise<TestCaseDocument>,
  ): Promise<(current: TestCaseDocument) => TestCaseDocument>;
};

/** Checking this much takes about 10 ms. */
const inlineCostMax = 1_000;
export const costlyPerMinute = 60;

const parsers = new WeakMap<App, TestParser>();

/** One for all routes of the app. */
export function testParserOf(app: App, deps: Pick<Deps, "db" | "machine">): TestParser {
  const known = parsers.get(app);
  if (known) return known;
  const made = openParser(app, deps);
  parsers.set(app, made);
  return made;
}

function openParser(app: App, deps: Pick<Deps, "db" | "machine">): TestParser {
  const check = checkingOf(app);
  const trials = limitTrials(deps, {
    kind: "costly tests",
    busy: "Your last test is still being checked. Try again in a moment.",
    perMinuteMax: costlyPerMinute,
    what: "tests with costly patterns or schemas",
  });
  const inTurn = <T>(account: Account, input: unknown, checked: (accountId: string) => Promise<T>) => {
    const { id } = account;
    return isCostly(input) ? trials(id, () => checked(id)) : checked(id);
  };
  const onThread = (account: Account, name: "test" | "draft", input: unknown) =>
    inTurn(account, input, id => check<TestCaseDocument>(name, id, input));
  return {
    test: async (account, input) =>
      isCompiled(input) ? onThread(account, "test", input) : parseTestCase(input),
    draft: async (account, input) =>
      isCompiled(input) ? onThread(account, "draft", input) : parseDraft(input),
    validated: (account, input, privacy) =>
      inTurn(account, input, id => check<Validated>("validate", id, { input, privacy })),
    async change(account, patch, current) {
      if (!isCompiled(patch)) return document => mergeTestCase(document, patch);
      await onThread(account, "test", { ...documentOf(await current()), ...(patch as object) });
      return document => mergeTestCase(document, patch, true);
    },
  };
}

const compiledTypes = new Set<unknown>(["response_regex", "json_schema", "tool_call"]);

/** Whether checking it compiles something that its author wrote. */
function isCompiled(input: unknown): boolean {
  const { assertions } = (input ?? {}) as { assertions?: unknown };
  return (
    Array.isArray(assertions) &&
    assertions.some(one => compiledTypes.has((one as { type?: unknown } | null)?.type))
  );
}

function isCostly(input: unknown): boolean {
  const { assertions } = (input ?? {}) as { assertions?: unknown };
  if (!Array.isArray(assertions) || assertions.length > assertionsMax) return false;
  return isWithin(input, levelsMax) && checkingCost(assertions) > inlineCostMax;
}
