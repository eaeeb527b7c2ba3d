// Writes the results of a launch as a JUnit file, which CI systems read.
import { writeFileSync } from "node:fs";
import { dirname } from "node:path";
import XMLBuilder from "fast-xml-builder";
import { makeFolders } from "../embedded/make-folders.ts";
import { CliError } from "./client.ts";
import {
  isOpen,
  isUnjudged,
  nameOf,
  oneLine,
  type Report,
  type ReportedRun,
  reasonsOf,
  secondsOf,
  titleOf,
  wordOf,
} from "./report.ts";

const xml = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  format: true,
  suppressEmptyNode: true,
});

/**
 * A JUnit file: one suite with the agent's name, and one case for each run, named with its input and repeat, with the counts of
 * its checks. A run that did not finish, or whose agent failed, is an error. Each check that should have been judged and was
 * not is a skipped case of its own, next to the one of its run.
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

/** The JUnit file of a command that ended without results. */
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
  const about = { "@name": writable(nameOf(run)), "@time": secondsOf(run) ?? 0 };
  const notes = notesOf(run);
  const out = notes.length > 0 ? { "system-out": notes.join("\n") } : {};
  if (run.state !== "completed") {
    return { ...about, error: { "@message": reasons[0], "@type": run.state, "#text": text } };
  }
  const message = writable(oneLine(run.reason ?? wordOf(run)));
  if (run.reasonCode === "agent_error") {
    return { ...about, error: { "@message": message, "@type": "agent_error", "#text": text }, ...out };
  }
  if (run.verdict === "skipped") {
    const lines = [text, ...notes].join("\n");
    return { ...about, skipped: { "@message": message }, "system-out": lines };
  }
  if (run.verdict === "passed") return { ...about, "system-out": [message, ...notes].join("\n") };
  return {
    ...about,
    failure: { "@message": message, "@type": run.verdict ?? run.state, "#text": text },
    ...out,
  };
}

/** Lines beside the result. The time of the case leaves the wait out. */
function notesOf({ waitedMs, notices }: ReportedRun): string[] {
  if (!waitedMs || !notices.includes("no_trace_arrived")) return [];
  return [`Not in the time: ${(waitedMs / 1_000).toFixed(1)} s of waiting for a trace that never came.`];
}

function openChecks(run: ReportedRun): JunitCase[] {
  // The case of a run without an outcome is skipped itself, and says why.
  if (!isOpen(run) || run.verdict === "skipped") return [];
  return run.checks.filter(isUnjudged).map(check => ({
    "@name": writable(`${nameOf(run)}: ${titleOf(check)}`),
    "@time": 0,
    skipped: { "@message": writable(oneLine(check.reason)) },
  }));
}

/** Replaces the characters that XML cannot contain, not even escaped. */
function writable(text: string): string {
  return text.toWellFormed().replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
}

/** Not asynchronous: a signal that ends the process finds no half-written file. */
export function writeJunit(file: string, text: string): void {
  try {
    makeFolders(dirname(file));
    writeFileSync(file, text);
  } catch (error) {
    throw new CliError(`Cannot write ${file}: ${(error as Error).message}`);
  }
}
