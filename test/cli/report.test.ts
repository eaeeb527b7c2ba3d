// What the command prints and exits with for tests of many runs: pass rates, tolerated failures, and few lines.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { XMLParser } from "fast-xml-parser";
import { junitOf } from "../../src/cli/junit.ts";
import { printingPace } from "../../src/cli/launches.ts";
import { readShare } from "../../src/cli/options.ts";
import { jsonLine, printable } from "../../src/cli/print.ts";
import { exitCodeOf, type Report, type ReportedRun, reportLines } from "../../src/cli/report.ts";
import type { LaunchCounts } from "../../src/model/run/launch.ts";

type Fields = Partial<ReportedRun>;

const failed: Fields = { verdict: "failed" };
const skipped: Fields = { verdict: "skipped" };
const missing: Fields = { verdict: "missing_instrumentation" };
const errored: Fields = { verdict: null, state: "error", error: "The worker stopped." };
const undecided: Fields = { fullyEvaluated: false };
const unjudged: Fields = { fullyEvaluated: false, outage: true };

/** Each list is the runs of a test. */
function reportOf(...tests: Fields[][]): Report {
  const runs = tests.flatMap((ofTest, test) =>
    ofTest.map(
      (fields, at): ReportedRun => ({
        ...{ id: `${test}-${at}`, testId: String(test), testName: `Test ${test}`, row: at + 1, repeat: null },
        ...{ state: "completed", verdict: "passed", checkCounts: null, reason: null, error: null },
        ...{
          fullyEvaluated: true,
          outage: false,
          startedAt: null,
          finishedAt: null,
          change: "same",
          flaky: false,
        },
        ...{ notices: [], waitedMs: null, turns: [], checks: [], ...fields },
      }),
    ),
  );
  const counts = {} as LaunchCounts;
  return {
    agent: { id: "a", name: "Agent" },
    launch: {
      id: "l",
      state: "completed",
      counts,
      testCount: tests.length,
      runCount: runs.length,
      notFullyEvaluated: 0,
      outages: 0,
    },
    tests: tests.map((ofTest, test) => ({
      ...{ testId: String(test), testName: `Test ${test}`, testDeleted: false },
      ...{ inputCount: 0, repeats: ofTest.length, runs: ofTest.length },
      ...{ counts, notFullyEvaluated: 0, passRate: null },
    })),
    runs,
  };
}

const passing = (count: number): Fields[] => Array.from({ length: count }, () => ({}));

for (const [name, tests, minPassRate, code] of [
  ["every run passed", [passing(3)], undefined, 0],
  ["one failed", [[...passing(9), failed]], undefined, 1],
  ["the rate is reached exactly", [[...passing(9), failed]], 0.9, 0],
  ["the rate is missed", [[...passing(9), failed]], 0.91, 1],
  ["one of two tests misses the rate", [passing(90), [...passing(8), failed, failed]], 0.9, 1],
  ["nothing but failures and a rate of 0", [[failed, failed]], 0, 0],
  ["a run without a result is no tolerated failure", [[...passing(99), errored]], 0.5, 1],
  ["missing instrumentation is no tolerated failure", [[...passing(99), missing]], 0.5, 1],
  ["skipped runs count neither for nor against", [[...passing(1), failed, skipped, skipped]], 0.5, 0],
  ["skipped runs without a rate", [[skipped, skipped]], undefined, 0],
  ["a test that was only skipped reaches no rate", [passing(9), [skipped]], 0, 1],
  ["a judge that was unavailable leaves it open", [[...passing(9), unjudged]], 0.9, 3],
  ["so it does where no run counts", [[unjudged, unjudged]], 0.9, 3],
  ["a pass that is not fully evaluated, no outage", [[...passing(9), undecided]], undefined, 1],
  ["nor does it count for a rate", [[...passing(1), undecided, undecided, failed]], 0.6, 1],
  ["nor against it", [[...passing(9), undecided]], 0.9, 0],
  ["a failure counts whatever was not judged", [[...passing(1), { ...undecided, ...failed }]], 0.6, 1],
  ["no run counts and the judge was there", [[undecided]], 0, 1],
  ["one test without a run that counts, another with an outage", [[undecided], [unjudged]], 0, 1],
] as [string, Fields[][], number | undefined, number][]) {
  test(`exit code ${code}: ${name}`, () => {
    assert.equal(exitCodeOf(reportOf(...tests), { minPassRate }), code);
  });
}

test("--fail-on skipped holds beside a pass rate, and a deleted run has not passed", () => {
  const report = reportOf([...passing(9), skipped]);
  assert.equal(exitCodeOf(report, { minPassRate: 0.5, failOn: ["skipped"] }), 1);
  const deleted = reportOf(passing(9));
  deleted.launch.runCount = 10;
  assert.equal(exitCodeOf(deleted, { minPassRate: 0.5 }), 1);
});

test("a test with many runs is one line and at most ten runs that did not pass", () => {
  const report = reportOf(
    [...passing(18), failed, failed],
    Array.from({ length: 1_000 }, () => failed),
  );
  const lines = reportLines(report);
  assert.deepEqual(lines.slice(0, 3), [
    "FAILED  Test 0  18 of 20 passed (90%, 95% interval 70–97%)",
    "    FAILED  input 19",
    "    FAILED  input 20",
  ]);
  assert.equal(lines.length, 3 + 1 + 10 + 1);
  assert.equal(lines.at(-1), "    … and 990 more");
  assert.match(reportLines(report, 0.9)[0]!, /^PASSED {2}Test 0/);
});

test("a wait for a trace that never came is told apart from the agent's time", () => {
  const times = { startedAt: "2026-01-01T00:00:00.000Z", finishedAt: "2026-01-01T00:00:16.500Z" };
  const waited = { ...times, waitedMs: 15_000, row: null };
  const report = reportOf([{ ...waited, notices: ["no_trace_arrived"] }], [waited]);
  assert.deepEqual(reportLines(report), [
    "PASSED  Test 0  (1.5 s, the agent sent no trace within 15.0 s)",
    "PASSED  Test 1  (1.5 s)",
  ]);
  const junit = junitOf(report);
  assert.equal(junit.match(/time="1.5"/g)?.length, 2);
  assert.match(junit, /time="3"/);
  const outs = junit.match(/<system-out>[^<]*<\/system-out>/g);
  assert.deepEqual(outs, [
    "<system-out>PASSED\nNot in the time: 15.0 s of waiting for a trace that never came.</system-out>",
    "<system-out>PASSED</system-out>",
  ]);
});

test("runs that are not counted are named beside the rate", () => {
  const [line] = reportLines(reportOf([...passing(1), failed, skipped, errored]));
  assert.match(line!, /^ERROR {2}Test 0 {2}1 of 2 passed \(50%, .*\), 2 not counted$/);
  assert.match(reportLines(reportOf([skipped, skipped]))[0]!, /^SKIPPED {2}Test 0 {2}0 of 2 decided$/);
});

test("the counts of checks stand beside the word, and a check that was not judged is listed below a passed run", () => {
  const checks = [
    { id: "a1", type: "semantic", outcome: "skipped", skipped: "undecided", reason: "It could be both." },
    { id: "a2", type: "tool_call", outcome: "skipped", skipped: "dependency", reason: "“a1” did not pass." },
  ] as ReportedRun["checks"];
  const checkCounts = { passed: 3, failed: 0, skipped: 2, missing_instrumentation: 0 };
  const reason = "Passed, 3 of 5 checked, 2 skipped";
  const alone = { row: null, ...undecided, reason, checkCounts, checks };
  assert.deepEqual(reportLines(reportOf([alone])), [
    "PASSED  Test 0  (3 of 5 checked, 2 skipped, not fully evaluated)",
    "    semantic a1, skipped: It could be both.",
  ]);
  const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "" });
  const { testcase, ...counts } = parser.parse(junitOf(reportOf([alone])), true).testsuites.testsuite;
  assert.deepEqual([counts.tests, counts.skipped], ["2", "1"]);
  assert.deepEqual(
    [testcase[0]["system-out"], testcase[1].name, testcase[1].skipped.message],
    [reason, "Test 0: semantic a1", "It could be both."],
  );
});

test("progress of 1,000 runs is about twenty lines, and of a few runs every change", () => {
  const printed = (of: number, now = () => 0) => {
    const isWorthPrinting = printingPace("0", now);
    return Array.from({ length: of }, (_, at) => isWorthPrinting(String(at + 1), at + 1, of)).filter(Boolean)
      .length;
  };
  assert.deepEqual([printed(1_000), printed(10)], [20, 10]);
  let ms = 0;
  const slow = printingPace("0", () => ms);
  assert.equal(slow("1", 1, 1_000), false);
  ms = 30_000;
  assert.equal(slow("2", 2, 1_000), true);
  assert.equal(slow("2", 2, 1_000), false);
});

test("a share is a number from 0 to 1 or a percentage", () => {
  for (const [text, share] of [
    ["0.9", 0.9],
    ["90%", 0.9],
    ["100 %", 1],
    ["1", 1],
    ["0", 0],
    [".5", 0.5],
    ["29%", 0.29],
  ] as const) {
    assert.equal(readShare(text), share);
  }
  for (const text of ["90", "-0.1", "1.01", "101%", "", "%", "0,9", "high", "NaN", "1e-1"]) {
    assert.throws(() => readShare(text), /from 0 to 1, such as 0\.9, or a percentage/, text);
  }
});

test("whatever text is in a line, it stays one line that only prints, and JSON means the same", () => {
  const hostile = "a\r\n\tPASSED \u001b[2J\u009b1m\u202eevil\u2066\u2028b\u{e0041}\ud800 क्‍ष 👩‍🚀";
  assert.equal(printable(hostile), "a PASSED \ufffd[2J\ufffd1m\ufffdevil\ufffd b\ufffd\ufffd क्‍ष 👩‍🚀");
  const value = { [hostile]: [hostile] };
  assert.doesNotMatch(jsonLine(value), /[\p{Cc}\u202e\u2066\u2028\u{e0041}]/u);
  assert.deepEqual(JSON.parse(jsonLine(value)), value);
});

test("commands print in one place only", () => {
  const root = join(import.meta.dirname, "../../src");
  const others = ["cli.ts", ...globSync("cli/*.ts", { cwd: root })].filter(file => file !== "cli/print.ts");
  assert.ok(others.length > 8);
  for (const file of others)
    assert.doesNotMatch(readFileSync(join(root, file), "utf8"), /console\.|std(?:out|err)\.write/, file);
});
