// Parses test cases of requests; those whose patterns or schemas take long to check are parsed on a thread, at a rate per account.
import type { FastifyRequest } from "fastify";
import { isWithin } from "../../model/path.ts";
import { checkingCost } from "../../model/test-case/pattern-cost.ts";
import {
  documentOf,
  levelsMax,
  mergeTestCase,
  parseDraft,
  parseTestCase,
  type TestCaseDocument,
} from "../../model/test-case/test-case.ts";
import { ThreadPool } from "../../threads/pool.ts";
import type { App, Deps } from "../deps.ts";
import { limitTrials } from "../rate-limit.ts";
import { requireAccount } from "../session.ts";

export type TestParser = {
  /** Both throw VALIDATION_ERROR, and RATE_LIMITED for costly tests. */
  test(request: FastifyRequest, input: unknown): Promise<TestCaseDocument>;
  draft(request: FastifyRequest, input: unknown): Promise<TestCaseDocument>;
  /**
   * The function that applies the patch to a test. Costly assertions of the patch are checked here, so that the function,
   * which runs in a transaction, does not: `current` is asked for the document that they are checked with.
   */
  change(
    request: FastifyRequest,
    patch: unknown,
    current: () => Promise<TestCaseDocument>,
  ): Promise<(current: TestCaseDocument) => TestCaseDocument>;
};

/** Checking this much takes about 10 ms, the longest pause that other requests should see. */
const inlineCostMax = 1_000;
export const costlyPerMinute = 60;
// Compiling the patterns of one test takes at most half a second.
const hangMs = 30_000;
const callsMax = 50;
const memoryMb = 256;

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
  const pool = new ThreadPool({
    name: "the parser thread",
    script: new URL("./parse-thread.ts", import.meta.url),
    memoryMb,
    hangMs,
    callsMax,
    callsPerThread: 1,
  });
  app.addHook("onClose", () => pool.close());
  const trials = limitTrials(deps, {
    kind: "costly tests",
    busy: "Your last test is still being checked. Try again in a moment.",
    perMinuteMax: costlyPerMinute,
    what: "tests with costly patterns or schemas",
  });
  const onThread = (request: FastifyRequest, name: "test" | "draft", input: unknown) =>
    trials(requireAccount(request).id, () => pool.call<TestCaseDocument>(name, input));
  return {
    test: async (request, input) =>
      isCostly(input) ? onThread(request, "test", input) : parseTestCase(input),
    draft: async (request, input) =>
      isCostly(input) ? onThread(request, "draft", input) : parseDraft(input),
    async change(request, patch, current) {
      if (!isCostly(patch)) return document => mergeTestCase(document, patch);
      await onThread(request, "test", { ...documentOf(await current()), ...(patch as object) });
      return document => mergeTestCase(document, patch, true);
    },
  };
}

function isCostly(input: unknown): boolean {
  return (
    isWithin(input, levelsMax) &&
    checkingCost((input as { assertions?: unknown } | null)?.assertions) > inlineCostMax
  );
}
