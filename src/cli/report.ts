// Reports the results of a launch: lines for the terminal, a JUnit file for CI, an exit code.
import XMLBuilder from "fast-xml-builder";
import type { Change, Launch, RunTurn } from "../model/run/launch.ts";
import type { Check, Outcome, RunState, Waiting } from "../model/run/run.ts";

/** A run as the API answers it, with its turns and checks. */
export type ReportedRun = {
  id: string;
  testId: string;
  testName: string;
  state: RunState;
  verdict: Outcome | null;
  reason: string | null;
  reasonCode?: string;
  error: string | null;
  /** False: the judge was unavailable for some checks. Null until the run has completed. */
  fullyEvaluated: boolean | null;
  startedAt: string | null;
  finishedAt: string | null;
  change: Change | null;
  flaky: boolean;
  notices: string[];
  /** Set while the run waits for the judge. */
  waiting: Waiting | null;
  turns: Pick<RunTurn, "turn" | "error">[];
  /** With the descriptions of their assertions. */
  checks: (Check & { description?: string })[];
};

export type Report = {
  agent: { id: string; name: string };
  launch: Pick<Launch, "id" | "state" | "counts" | "testCount" | "runCount" | "notFullyEvaluated">;
  runs: ReportedRun[];
};

/** What else fails a build. Missing instrumentation always does. */
export const failureKinds = ["skipped", "missing"] as const;
export type FailureKind = (typeof failureKinds)[number];

/**
 * 0: every run passed or was skipped. 1: some run failed, lacked instrumentation, errored or was cancelled, or is one of
 * `failOn`. 3: the judge was unavailable for some checks, so it is not known that all pass.
 */
export function exitCodeOf({ launch, runs }: Report, failOn: FailureKind[] = []): 0 | 1 | 3 {
  const fine = runs.every(
    run => run.verdict === "passed" || (run.verdict === "skipped" && run.state === "completed"),
  );
  // A run deleted in the meantime has not passed.
  if (!fine || runs.length !== launch.runCount) return 1;
  if (failOn.includes("skipped") && runs.some(hasSkipped)) return 1;
  return runs.some(isOpen) ? 3 : 0;
}

function hasSkipped({ verdict, checks }: ReportedRun): boolean {
  return verdict === "skipped" || checks.some(({ outcome }) => outcome === "skipped");
}

/** Whether the judge was unavailable for some of its checks. */
function isOpen({ fullyEvaluated }: Pick<ReportedRun, "fullyEvaluated">): boolean {
  return fullyEvaluated === false;
}

/** One run, followed by its checks that did not pass. */
export function runLines(run: ReportedRun): string[] {
  const remarks = [
    run.change === "broke" && "broke since its last run",
    run.change === "mended" && "fixed since its last run",
    run.flaky && "flaky",
    run.notices.includes("no_trace_arrived") && "the agent sent no trace",
    run.notices.includes("trace_differs") && "its trace differs from the reply",
    isOpen(run) && "not fully evaluated",
  ].filter(Boolean);
  const seconds = secondsOf(run);
  const about = [...(seconds === undefined ? [] : [`${seconds.toFixed(1)} s`]), ...remarks].join(", ");
  const head = `${wordOf(run)}  ${oneLine(run.testName)}${about && `  (${about})`}`;
  return [head, ...reasonsOf(run).map(reason => `    ${reason}`)];
}

/** "4 of 9 done: 4 passed; 2 wait for the judge: …", with the reason of one of them. */
export function progressOf(launch: Report["launch"], runs: Pick<ReportedRun, "waiting">[]): string {
  const done = launch.runCount - launch.counts.open;
  const waits = runs.flatMap(({ waiting }) => waiting ?? []);
  const progress = `${done} of ${launch.runCount} done${done > 0 ? `: ${summaryOf({ launch })}` : ""}`;
  if (!waits[0]) return progress;
  return `${progress}; ${waits.length} ${waits.length === 1 ? "waits" : "wait"} for the judge: ${oneLine(waits[0].reason)}`;
}

/** "3 passed, 1 failed, 1 skipped; 1 not fully evaluated". */
export function summaryOf({
  launch: { counts, runCount, notFullyEvaluated },
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
  const open =
    notFullyEvaluated > 0
      ? `; ${notFullyEvaluated} not fully evaluated, because the judge was unavailable`
      : "";
  return parts.join(", ") + open;
}

const xml = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  format: true,
  suppressEmptyNode: true,
});

/**
 * A JUnit file: one suite with the agent's name, and one case for each test. A run that did not finish, or whose agent
 * failed, is an error. Each check that the judge was unavailable for is a skipped case of its own, beside its test's.
 */
export function junitOf({ agent, launch, runs }: Report): string {
  const classname = writable(agent.name);
  const cases = runs.flatMap(run => [
    { "@classname": classname, ...caseOf(run) },
    ...openChecks(run).map(check => ({ "@classname": classname, ...check })),
  ]);
  const property = [
    { "@name": "launch", "@value": launch.id },
    { "@name": "agent", "@value": agent.id },
  ];
  const ms = runs.reduce((sum, run) => sum + (secondsOf(run) ?? 0) * 1_000, 0);
  return suiteOf(classname, cases, { "@time": Math.round(ms) / 1_000, properties: { property } });
}

/** A JUnit file of a command that has no results. */
export function unfinishedJunit(agentName: string, message: string): string {
  const error = { "@message": writable(oneLine(message)), "@type": "unfinished" };
  const name = writable(agentName);
  return suiteOf(name, [{ "@classname": name, "@name": "svc run", "@time": 0, error }]);
}

type JunitCase = Record<string, unknown>;

function suiteOf(name: string, cases: JunitCase[], rest: object = {}): string {
  const countOf = (kind: string) => cases.filter(one => kind in one).length;
  const counts = {
    "@tests": cases.length,
    "@failures": countOf("failure"),
    "@errors": countOf("error"),
    "@skipped": countOf("skipped"),
  };
  const testsuite = { "@name": name, ...counts, ...rest, testcase: cases };
  return xml.build({
    "?xml": { "@version": "1.0", "@encoding": "UTF-8" },
    testsuites: { ...counts, testsuite },
  });
}

function caseOf(run: ReportedRun): JunitCase {
  const reasons = reasonsOf(run).map(writable);
  const text = reasons.join("\n");
  const about = { "@name": writable(run.testName), "@time": secondsOf(run) ?? 0 };
  if (run.state !== "completed") {
    return { ...about, error: { "@message": reasons[0], "@type": run.state, "#text": text } };
  }
  const message = writable(oneLine(run.reason ?? wordOf(run)));
  if (run.reasonCode === "agent_error") {
    return { ...about, error: { "@message": message, "@type": "agent_error", "#text": text } };
  }
  if (run.verdict === "skipped") return { ...about, skipped: "", "system-out": text };
  if (run.verdict === "passed") return about;
  return { ...about, failure: { "@message": message, "@type": run.verdict ?? run.state, "#text": text } };
}

function openChecks(run: ReportedRun): JunitCase[] {
  if (!isOpen(run)) return [];
  return run.checks.filter(isUnjudged).map(check => ({
    "@name": writable(`${run.testName}: ${titleOf(check)}`),
    "@time": 0,
    skipped: { "@message": writable(oneLine(check.reason)) },
  }));
}

function isUnjudged({ skipped }: Check): boolean {
  return skipped === "judge_unavailable" || skipped === "judge_unusable";
}

function wordOf({ state, verdict }: ReportedRun): string {
  if (state === "error") return "ERROR";
  if (state === "cancelled") return "CANCELLED";
  if (verdict === "missing_instrumentation") return "MISSING INSTRUMENTATION";
  return (verdict ?? state).toUpperCase();
}

/** Why a run did not pass, or is not fully evaluated: one line for each failed turn and check. */
function reasonsOf(run: ReportedRun): string[] {
  const { state, verdict, error, turns, checks } = run;
  if (state === "cancelled") return ["Cancelled."];
  if (state === "error") return [oneLine(error ?? "The run ended without a result.")];
  if (state !== "completed") return ["The run did not finish."];
  if (verdict === "passed") return checks.filter(isUnjudged).map(lineOf);
  const broken = turns.flatMap(turn =>
    turn.error ? [oneLine(`turn ${turn.turn}, ${turn.error.code}: ${turn.error.reason}`)] : [],
  );
  const open = checks.filter(({ outcome }) => outcome !== "passed").map(lineOf);
  return [...broken, ...open];
}

function lineOf(check: ReportedRun["checks"][number]): string {
  return oneLine(`${titleOf(check)}, ${check.outcome}: ${check.reason}`);
}

/** "semantic a1 (Greets by name)". */
function titleOf({ id, type, description }: ReportedRun["checks"][number]): string {
  return oneLine(`${type} ${id}${description ? ` (${description})` : ""}`);
}

function secondsOf({ startedAt, finishedAt }: ReportedRun): number | undefined {
  if (startedAt === null || finishedAt === null) return undefined;
  return Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)) / 1_000;
}

/** Untrusted text on one line: it can neither fake a line of output nor move the cursor. */
function oneLine(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/\p{Cc}/gu, "\uFFFD")
    .toWellFormed();
}

/** Replaces the characters that XML cannot contain, not even escaped. */
function writable(text: string): string {
  return text.toWellFormed().replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
}
