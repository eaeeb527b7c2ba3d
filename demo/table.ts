// Prints the table of verdicts: one line per trace, with the most important reason below it.

import type { TraceDetail } from "../src/http/traces/schemas.ts";
import type { Counts, Outcome } from "../src/model/run/outcome.ts";
import type { Result } from "../src/model/run/run.ts";
import type { Notice } from "../src/model/trace/trace.ts";
import { bold, colored, dim, outcomeLabels, truncate, wrap } from "./terminal.ts";
import type { SentTrace } from "./traffic.ts";

const widths = { agent: 8, words: 27, path: 9, reason: 90 };
const indent = " ".repeat(widths.agent + 2);

export function printTable(traces: SentTrace[]): void {
  console.log(bold(row("Agent", "User input", "Path", "Verdict")));
  for (const { agent, trace } of traces) {
    console.log(row(agent.name, inputOf(trace), pathOf(trace), verdictOf(trace)));
    const reason = trace && reasonOf(trace);
    for (const line of reason ? wrap(reason, widths.reason) : []) console.log(dim(indent + line));
  }
  console.log(dim(`\n${indent}otlp ×2: the trace arrived in two batches.`));
}

function row(agent: string, words: string, path: string, verdict: string): string {
  return [
    agent.padEnd(widths.agent),
    truncate(words, widths.words).padEnd(widths.words),
    path.padEnd(widths.path),
    verdict,
  ].join("  ");
}

function inputOf(trace: TraceDetail | undefined): string {
  return trace?.userInput ?? (trace ? `(${trace.name})` : "");
}

/** Each batch that adds spans raises the revision. */
function pathOf(trace: TraceDetail | undefined): string {
  if (!trace) return "";
  return trace.revision > 1 ? `${trace.path} ×${trace.revision}` : trace.path;
}

function verdictOf(trace: TraceDetail | undefined): string {
  if (!trace) return "Not stored yet";
  if (!trace.run) return "Not evaluated, no test applies";
  const { state, verdict, counts } = trace.run;
  if (state === "error") return "Error";
  if (state !== "completed") return "Pending";
  return verdict && counts ? colored(verdict, sentence(verdict, counts)) : "Not evaluated";
}

/** "Passed, 4 of 5 checked, 1 skipped"; the rest of the total is missing instrumentation. */
function sentence(verdict: Outcome, counts: Counts): string {
  const checked = counts.passed + counts.failed;
  const all = checked + counts.skipped + counts.missing_instrumentation;
  const failed = counts.failed > 0 ? `, ${counts.failed} failed` : "";
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
  return `${outcomeLabels[verdict]}, ${checked} of ${all} checked${failed}${skipped}`;
}

function reasonOf(trace: TraceDetail): string | undefined {
  const run = trace.runs.find(({ id }) => id === trace.run?.id);
  if (run?.state === "error") return run.error ?? undefined;
  if (trace.otherConvention) {
    return `Uses ${trace.otherConvention.name}. ${trace.otherConvention.send}`;
  }
  if (run?.verdict && run.verdict !== "passed") return firstReason(run.results, run.verdict);
  const notice = trace.notices.find(code => code in noticeTexts);
  return notice && noticeTexts[notice];
}

/** The test's name, the assertion's description and the reason of the first check with that outcome. */
function firstReason(results: Result[], outcome: Outcome): string | undefined {
  const result = results.find(each => each.outcome === outcome);
  const check = result?.checks.find(each => each.outcome === outcome);
  if (!result || !check) return undefined;
  const { description } = result.test.assertions.find(({ id }) => id === check.id) ?? {};
  return [`${result.name}:`, description, check.reason].filter(Boolean).join(" ");
}

const noticeTexts: Partial<Record<Notice, string>> = {
  no_user_input: "The trace has no user input, so “Run when relevant” tests were not matched.",
  orphan_spans: "The parent of a span never arrived.",
};
