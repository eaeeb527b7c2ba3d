// Reports the results of a launch: lines for the terminal, and an exit code.

import { areFullyEvaluated } from "../model/run/fully-evaluated.ts";
import type { Change, Launch, LaunchTest, RunTurn } from "../model/run/launch.ts";
import type { Counts, Outcome } from "../model/run/outcome.ts";
import { type PassRate, passRateOf } from "../model/run/pass-rate.ts";
import { checkedText } from "../model/run/reason-text.ts";
import type { Check, RunState } from "../model/run/run.ts";
import { printable } from "./print.ts";

/** A run as the API answers it, with its turns and checks. */
export type ReportedRun = {
  id: string;
  testId: string;
  testName: string;
  /** From 1; null without inputs, and without repeats. */
  row: number | null;
  repeat: number | null;
  state: RunState;
  verdict: Outcome | null;
  checkCounts: Counts | null;
  reason: string | null;
  reasonCode?: string;
  error: string | null;
  /** False: some checks should have been judged and were not. Null until the run has completed. */
  fullyEvaluated: boolean | null;
  /** The judge was unavailable for some of them. */
  outage: boolean;
  startedAt: string | null;
  finishedAt: string | null;
  change: Change | null;
  flaky: boolean;
  notices: string[];
  /** How long traces were waited for after the replies. */
  waitedMs: number | null;
  turns: Pick<RunTurn, "turn" | "error">[];
  /** With the descriptions of their assertions. Not read, like the turns, of runs whose checks all passed. */
  checks: (Check & { description?: string })[];
};

export type Report = {
  agent: { id: string; name: string };
  launch: Pick<
    Launch,
    "id" | "state" | "counts" | "testCount" | "runCount" | "notFullyEvaluated" | "outages"
  >;
  /** In the order of the launch. */
  tests: LaunchTest[];
  runs: ReportedRun[];
};

/** What else fails a build. Missing instrumentation always does. */
export const failureKinds = ["skipped", "missing"] as const;
export type FailureKind = (typeof failureKinds)[number];

/** `minPassRate`: from 0 to 1; failed runs are then no failure of a test whose pass rate reaches it. */
export type Demands = { failOn?: FailureKind[] | undefined; minPassRate?: number | undefined };

/**
 * 0: every run passed or was skipped, and is fully evaluated; or every test's pass rate reaches `minPassRate`. 1: some run failed
 * and is not tolerated, is not fully evaluated, lacked instrumentation, errored or was cancelled, or is one of `failOn`; or a
 * test has no run that counts. 3: the judge was unavailable for some checks, so it is not known that all pass.
 */
export function exitCodeOf(
  { launch, tests, runs }: Report,
  { failOn = [], minPassRate }: Demands = {},
): 0 | 1 | 3 {
  const byTest = Map.groupBy(runs, run => run.testId);
  const fine = runs.every(
    ({ state, verdict }) =>
      verdict === "passed" ||
      (verdict === "skipped" && state === "completed") ||
      (verdict === "failed" && minPassRate !== undefined),
  );
  // A run deleted in the meantime has not passed.
  if (!fine || runs.length !== launch.runCount) return 1;
  if (failOn.includes("skipped") && runs.some(hasSkipped)) return 1;
  const isMissed =
    minPassRate === undefined
      ? runs.some(run => isOpen(run) && !run.outage)
      : tests.some(({ testId }) => misses(byTest.get(testId) ?? [], minPassRate));
  if (isMissed) return 1;
  return runs.some(({ outage }) => outage) ? 3 : 0;
}

/** Without a run that counts it is missed, unless the judge was unavailable. */
function misses(runs: ReportedRun[], minPassRate: number): boolean {
  const rate = countedRate(runs);
  return rate === null ? !runs.some(({ outage }) => outage) : rate.share < minPassRate;
}

/** Every failure counts, and a pass only if it is fully evaluated. */
function countedRate(runs: ReportedRun[]): PassRate | null {
  const failed = runs.filter(({ verdict }) => verdict === "failed").length;
  const passed = runs.filter(run => run.verdict === "passed" && !isOpen(run)).length;
  return passRateOf(passed, passed + failed);
}

function hasSkipped({ verdict, checks }: ReportedRun): boolean {
  return verdict === "skipped" || checks.some(({ outcome }) => outcome === "skipped");
}

/** Whether it is not fully evaluated. */
export function isOpen({ fullyEvaluated }: Pick<ReportedRun, "fullyEvaluated">): boolean {
  return fullyEvaluated === false;
}

// Of a test with many inputs; the JUnit file and the dashboard have all of them.
const shownRunsMax = 10;

/** The results by test: a test with one run as that run, another with its pass rate and the runs that did not pass. */
export function reportLines({ tests, runs }: Pick<Report, "tests" | "runs">, minPassRate?: number): string[] {
  const byTest = Map.groupBy(runs, run => run.testId);
  return tests.flatMap(test => {
    const own = byTest.get(test.testId) ?? [];
    if (own.length === 1 && own[0]!.row === null && own[0]!.repeat === null) return runLines(own[0]!);
    const rest = own.filter(run => wordOf(run) !== "PASSED" || isOpen(run));
    const left = rest.length - shownRunsMax;
    return [
      `${wordOfTest(own, minPassRate)}  ${oneLine(test.testName)}  ${rateText(own)}`,
      ...rest.slice(0, shownRunsMax).flatMap(run => runLines(run, placeOf(run)).map(line => `    ${line}`)),
      ...(left > 0 ? [`    … and ${left} more`] : []),
    ];
  });
}

function wordOfTest(runs: ReportedRun[], minPassRate = 1): string {
  const words = new Set(runs.map(wordOf));
  if ((countedRate(runs)?.share ?? 0) >= minPassRate) words.delete("FAILED");
  const worst = ["ERROR", "CANCELLED", "FAILED", "MISSING INSTRUMENTATION"].find(word => words.has(word));
  return worst ?? (words.size === 1 && words.has("SKIPPED") ? "SKIPPED" : "PASSED");
}

/** "18 of 20 passed (90%, 95% interval 70–97%)"; the other runs follow. */
function rateText(runs: ReportedRun[]): string {
  const counted = countedRate(runs);
  if (counted === null) return `0 of ${runs.length} decided`;
  const { passed, of, share, low, high } = counted;
  const rate = `${passed} of ${of} passed (${percent(share)}%, 95% interval ${percent(low)}–${percent(high)}%)`;
  return of === runs.length ? rate : `${rate}, ${runs.length - of} not counted`;
}

function percent(share: number): number {
  return Math.round(share * 100);
}

/** One run with the counts of its checks, followed by the checks that did not pass. */
function runLines(run: ReportedRun, name = nameOf(run)): string[] {
  const remarks = [
    run.checkCounts && checkedText(run.checkCounts),
    secondsText(run),
    run.change === "broke" && "broke since its last run",
    run.change === "mended" && "fixed since its last run",
    run.flaky && "flaky",
    run.notices.includes("no_trace_arrived") && noTraceOf(run),
    run.notices.includes("trace_differs") && "its trace differs from the reply",
    run.notices.includes("judged_earlier_revision") && "its trace changed since",
    isOpen(run) && "not fully evaluated",
  ].filter(Boolean);
  const about = remarks.join(", ");
  const head = `${wordOf(run)}  ${oneLine(name)}${about && `  (${about})`}`;
  return [head, ...reasonsOf(run).map(reason => `    ${reason}`)];
}

function secondsText(run: ReportedRun): string | undefined {
  const seconds = secondsOf(run);
  return seconds === undefined ? undefined : `${seconds.toFixed(1)} s`;
}

/** "Refund (input 3, repeat 2)". */
export function nameOf(run: ReportedRun): string {
  const place = placeOf(run);
  return place ? `${run.testName} (${place})` : run.testName;
}

function placeOf({ row, repeat }: ReportedRun): string {
  return [row !== null && `input ${row}`, repeat !== null && `repeat ${repeat}`].filter(Boolean).join(", ");
}

/** "4 of 9 done: 4 passed; 2 wait for the judge: …", with the reason of one of them. */
export function progressOf(
  launch: Report["launch"],
  waiting: { runs: number; reason: string } | null = null,
): string {
  const done = launch.runCount - launch.counts.open;
  const progress = `${done} of ${launch.runCount} done${done > 0 ? `: ${summaryOf({ launch })}` : ""}`;
  if (!waiting) return progress;
  return `${progress}; ${waiting.runs} ${waiting.runs === 1 ? "waits" : "wait"} for the judge: ${oneLine(waiting.reason)}`;
}

/** "3 passed, 1 failed, 1 skipped; 1 not fully evaluated". */
export function summaryOf({
  launch: { counts, runCount, notFullyEvaluated, outages },
}: Pick<Report, "launch">): string {
  const words = {
    passed: "passed",
    failed: "failed",
    missing_instrumentation: "missing instrumentation",
    skipped: "skipped",
    error: "errored",
    cancelled: "cancelled",
  } as const;
  const parts = Object.entries(words).flatMap(([name, word]) => {
    const count = counts[name as keyof typeof words];
    return count > 0 ? [`${count} ${word}`] : [];
  });
  const gone = runCount - Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (gone > 0) parts.push(`${gone} deleted`);
  if (notFullyEvaluated === 0) return parts.join(", ");
  const some = outages === notFullyEvaluated ? "" : `${outages} of them `;
  const why = outages > 0 ? `, ${some}because the judge was unavailable` : "";
  return `${parts.join(", ")}; ${notFullyEvaluated} not fully evaluated${why}`;
}

/** Whether the check should have been judged and was not. */
export function isUnjudged(check: Check): boolean {
  return !areFullyEvaluated([check]);
}

export function wordOf({ state, verdict }: ReportedRun): string {
  if (state === "error") return "ERROR";
  if (state === "cancelled") return "CANCELLED";
  if (verdict === "missing_instrumentation") return "MISSING INSTRUMENTATION";
  return (verdict ?? state).toUpperCase();
}

/** Why a run did not pass, or is not fully evaluated: one line for each failed turn and check. */
export function reasonsOf(run: ReportedRun): string[] {
  const { state, verdict, error, turns, checks } = run;
  if (state === "cancelled") return ["Cancelled."];
  if (state === "error") return [oneLine(error ?? "The run ended without a result.")];
  if (state !== "completed") return ["The run did not finish."];
  if (verdict === "passed") return checks.filter(isUnjudged).map(lineOf);
  const broken = turns.flatMap(({ turn, error: ended }) =>
    ended ? [oneLine(`turn ${turn}, ${ended.code}: ${ended.reason}`)] : [],
  );
  const open = checks.filter(({ outcome }) => outcome !== "passed").map(lineOf);
  return [...broken, ...open];
}

function lineOf(check: ReportedRun["checks"][number]): string {
  return oneLine(`${titleOf(check)}, ${check.outcome}: ${check.reason}`);
}

/** "semantic a1 (Greets by name)". */
export function titleOf({ id, type, description }: ReportedRun["checks"][number]): string {
  return oneLine(`${type} ${id}${description ? ` (${description})` : ""}`);
}

/** Without the wait for traces, which is not the agent's time. */
export function secondsOf({ startedAt, finishedAt, waitedMs }: ReportedRun): number | undefined {
  if (startedAt === null || finishedAt === null) return undefined;
  return Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt) - (waitedMs ?? 0)) / 1_000;
}

/** The wait is not part of the time that stands before it. */
function noTraceOf({ waitedMs }: ReportedRun): string {
  return `the agent sent no trace${waitedMs ? ` within ${(waitedMs / 1_000).toFixed(1)} s` : ""}`;
}

/** Untrusted text as a part of a line, in which it cannot look like another part. */
export function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, " "));
}
