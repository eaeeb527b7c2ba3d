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
  error: string | null;
  startedAt: string | null;
  finishedAt: string | null;
  change: Change | null;
  flaky: boolean;
  notices: string[];
  /** Set while the run waits for the judge. */
  waiting: Waiting | null;
  turns: Pick<RunTurn, "turn" | "error">[];
  checks: Check[];
};

export type Report = {
  agent: { id: string; name: string };
  launch: Pick<Launch, "id" | "state" | "counts" | "testCount">;
  runs: ReportedRun[];
};

/** 0: every run passed or was skipped. 1: some run failed, lacked instrumentation, errored or was cancelled. */
export function exitCodeOf({ launch, runs }: Report): 0 | 1 {
  const fine = runs.every(({ verdict }) => verdict === "passed" || verdict === "skipped");
  // A run deleted in the meantime has not passed.
  return fine && runs.length === launch.testCount ? 0 : 1;
}

/** One run, followed by its checks that did not pass. */
export function runLines(run: ReportedRun): string[] {
  const remarks = [
    run.change === "broke" && "broke since its last run",
    run.change === "mended" && "fixed since its last run",
    run.flaky && "flaky",
    run.notices.includes("no_trace_arrived") && "the agent sent no trace",
  ].filter(Boolean);
  const seconds = secondsOf(run);
  const about = [...(seconds === undefined ? [] : [`${seconds.toFixed(1)} s`]), ...remarks].join(", ");
  const head = `${wordOf(run)}  ${oneLine(run.testName)}${about && `  (${about})`}`;
  return [head, ...reasonsOf(run).map(reason => `    ${reason}`)];
}

/** "4 of 9 done: 4 passed; 2 wait for the judge: …", with the reason of one of them. */
export function progressOf(launch: Report["launch"], runs: Pick<ReportedRun, "waiting">[]): string {
  const done = launch.testCount - launch.counts.open;
  const waits = runs.flatMap(({ waiting }) => waiting ?? []);
  const progress = `${done} of ${launch.testCount} done${done > 0 ? `: ${summaryOf({ launch })}` : ""}`;
  if (!waits[0]) return progress;
  return `${progress}; ${waits.length} ${waits.length === 1 ? "waits" : "wait"} for the judge: ${oneLine(waits[0].reason)}`;
}

/** "3 passed, 1 failed, 1 skipped". */
export function summaryOf({ launch: { counts, testCount } }: Pick<Report, "launch">): string {
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
  const gone = testCount - Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (gone > 0) parts.push(`${gone} deleted`);
  return parts.join(", ");
}

const xml = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  format: true,
  suppressEmptyNode: true,
});

/** A JUnit file: one suite with the agent's name, one case for each test. */
export function junitOf({ agent, launch, runs }: Report): string {
  const isBroken = ({ state }: ReportedRun) => state === "error" || state === "cancelled";
  const finished = runs.filter(run => !isBroken(run));
  const skipped = finished.filter(({ verdict }) => verdict === "skipped").length;
  const passed = finished.filter(({ verdict }) => verdict === "passed").length;
  const counts = {
    "@tests": runs.length,
    "@failures": finished.length - skipped - passed,
    "@errors": runs.length - finished.length,
    "@skipped": skipped,
  };
  const name = writable(agent.name);
  const ms = runs.reduce((sum, run) => sum + (secondsOf(run) ?? 0) * 1_000, 0);
  const testcase = runs.map(run => {
    const reasons = reasonsOf(run).map(writable);
    const text = reasons.join("\n");
    const about = { "@classname": name, "@name": writable(run.testName), "@time": secondsOf(run) ?? 0 };
    if (isBroken(run)) {
      return { ...about, error: { "@message": reasons[0], "@type": run.state, "#text": text } };
    }
    if (run.verdict === "skipped") return { ...about, skipped: "", "system-out": text };
    if (run.verdict === "passed") return about;
    const message = writable(run.reason ?? wordOf(run));
    return { ...about, failure: { "@message": message, "@type": run.verdict ?? run.state, "#text": text } };
  });
  const property = [
    { "@name": "launch", "@value": launch.id },
    { "@name": "agent", "@value": agent.id },
  ];
  const testsuite = {
    "@name": name,
    "@time": Math.round(ms) / 1_000,
    ...counts,
    properties: { property },
    testcase,
  };
  return xml.build({
    "?xml": { "@version": "1.0", "@encoding": "UTF-8" },
    testsuites: { ...counts, testsuite },
  });
}

function wordOf({ state, verdict }: ReportedRun): string {
  if (state === "error") return "ERROR";
  if (state === "cancelled") return "CANCELLED";
  if (verdict === "missing_instrumentation") return "MISSING INSTRUMENTATION";
  return (verdict ?? state).toUpperCase();
}

/** Why a run did not pass: one line for each failed turn and check. */
function reasonsOf({ state, verdict, error, turns, checks }: ReportedRun): string[] {
  if (state === "cancelled") return ["Cancelled."];
  if (state === "error") return [oneLine(error ?? "The run ended without a result.")];
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
