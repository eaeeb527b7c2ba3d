// What a launch came to: as lines for a person, as a JUnit file for CI, and as an exit code.
import junit, { type Builder } from "junit-report-builder";
import type { Change, Launch, RunTurn } from "../model/run/launch.ts";
import type { Check, Outcome, RunState, Waiting } from "../model/run/run.ts";

// Its types speak of what a bundler makes of it; Node hands over the builder itself.
const builder = junit as unknown as Builder;

/** A run as the API answers it, with its turns and checks. */
export type ReportedRun = {
  id: string;
  testId: string;
  testName: string;
  state: RunState;
  verdict: Outcome | null;
  reason: string | null;
  error: string | null;
  startedAt: string | null;
  finishedAt: string | null;
  change: Change | null;
  flaky: boolean;
  notices: string[];
  /** For the judge. */
  waiting: Waiting | null;
  turns: Pick<RunTurn, "turn" | "error">[];
  checks: Check[];
};

export type Report = {
  agent: { id: string; name: string };
  launch: Pick<Launch, "id" | "state" | "counts" | "testCount">;
  runs: ReportedRun[];
};

/** 0: everything passed, or was skipped. 1: something failed, could not be seen, broke or was cancelled. */
export function exitCodeOf({ launch, runs }: Report): 0 | 1 {
  const fine = runs.every(({ verdict }) => verdict === "passed" || verdict === "skipped");
  // A run that was deleted meanwhile has not passed.
  return fine && runs.length === launch.testCount ? 0 : 1;
}

/** One run, and below it what did not pass. */
export function runLines(run: ReportedRun): string[] {
  const told = [
    run.change === "broke" && "broke since its last run",
    run.change === "mended" && "mended since its last run",
    run.flaky && "flaky",
    run.notices.includes("no_trace_arrived") && "no trace of the agent's arrived",
  ].filter(Boolean);
  const seconds = secondsOf(run);
  const about = [...(seconds === undefined ? [] : [`${seconds.toFixed(1)} s`]), ...told].join(", ");
  const head = `${wordOf(run)}  ${oneLine(run.testName)}${about && `  (${about})`}`;
  return [head, ...reasonsOf(run).map(reason => `    ${reason}`)];
}

/** "4 of 9 done: 4 passed; 2 wait for the judge: …", with why one of them waits. */
export function progressOf(launch: Report["launch"], runs: Pick<ReportedRun, "waiting">[]): string {
  const done = launch.testCount - launch.counts.open;
  const waits = runs.flatMap(({ waiting }) => waiting ?? []);
  const told = `${done} of ${launch.testCount} done${done > 0 ? `: ${summaryOf({ launch })}` : ""}`;
  if (!waits[0]) return told;
  return `${told}; ${waits.length} ${waits.length === 1 ? "waits" : "wait"} for the judge: ${oneLine(waits[0].reason)}`;
}

/** "3 passed, 1 failed, 1 skipped". */
export function summaryOf({ launch: { counts, testCount } }: Pick<Report, "launch">): string {
  const words = {
    passed: "passed",
    failed: "failed",
    missing_instrumentation: "missing instrumentation",
    skipped: "skipped",
    error: "broke off",
    cancelled: "cancelled",
  } as const;
  const parts = Object.entries(words).flatMap(([name, word]) => {
    const count = counts[name as keyof typeof words];
    return count > 0 ? [`${count} ${word}`] : [];
  });
  const gone = testCount - Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (gone > 0) parts.push(`${gone} deleted`);
  return parts.join(", ");
}

/** The text of a JUnit file: a suite of the agent's name, a case for each test. */
export function junitOf({ agent, launch, runs }: Report): string {
  const report = builder.newBuilder();
  const suite = report
    .testSuite()
    .name(writable(agent.name))
    .time(runs.reduce((sum, run) => sum + (secondsOf(run) ?? 0), 0))
    .property("launch", launch.id)
    .property("agent", agent.id);
  for (const run of runs) {
    const one = suite.testCase().className(writable(agent.name)).name(writable(run.testName));
    one.time(secondsOf(run) ?? 0);
    const reasons = reasonsOf(run).map(writable);
    const said = reasons.join("\n");
    if (run.state === "error" || run.state === "cancelled") {
      one.error(reasons[0], run.state, said);
    } else if (run.verdict === "skipped") {
      one.skipped();
      one.standardOutput(said);
    } else if (run.verdict !== "passed") {
      one.failure(writable(run.reason ?? wordOf(run)), run.verdict ?? run.state);
      one.stacktrace(said);
    }
  }
  return report.build();
}

function wordOf({ state, verdict }: ReportedRun): string {
  if (state === "error") return "BROKE OFF";
  if (state === "cancelled") return "CANCELLED";
  if (verdict === "missing_instrumentation") return "MISSING INSTRUMENTATION";
  return (verdict ?? state).toUpperCase();
}

/** Why it did not pass: a line for a turn that failed, and for each check. */
function reasonsOf({ state, verdict, error, turns, checks }: ReportedRun): string[] {
  if (state === "cancelled") return ["It was cancelled."];
  if (state === "error") return [oneLine(error ?? "It ended without a result.")];
  if (verdict === "passed") return [];
  const broken = turns.flatMap(turn =>
    turn.error ? [oneLine(`turn ${turn.turn}, ${turn.error.code}: ${turn.error.reason}`)] : [],
  );
  const open = checks
    .filter(({ outcome }) => outcome !== "passed")
    .map(({ id, type, outcome, reason }) => oneLine(`${type} ${id}, ${outcome}: ${reason}`));
  return [...broken, ...open];
}

function secondsOf({ startedAt, finishedAt }: ReportedRun): number | undefined {
  if (startedAt === null || finishedAt === null) return undefined;
  return Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt)) / 1_000;
}

/** Texts come from elsewhere: no line of theirs passes for one of ours, and none moves the cursor. */
function oneLine(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/\p{Cc}/gu, "\uFFFD")
    .toWellFormed();
}

/** XML has no way to write some characters, escaped or not. */
function writable(text: string): string {
  return text.toWellFormed().replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
}
