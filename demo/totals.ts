// The totals under the table: how many of what, and what was not judged and why.

import type { Check, Outcome } from "../src/model/run/run.ts";
import { assertionSchema } from "../src/model/test-case/assertion.ts";
import { bold, coloured, dim, outcomes, outcomeWords, wrap } from "./terminal.ts";
import type { Judged, TraceDetail } from "./traffic.ts";

const widths = { label: 18, why: 21, text: 75 };

export function printTotals(judged: Judged[]): void {
  const traces = judged.flatMap(({ trace }) => trace ?? []);
  const runs = traces.flatMap(({ runs }) => runs.find(({ state }) => state === "completed") ?? []);
  const results = runs.flatMap(run => run.results);
  const checks = results.flatMap(result => result.checks);
  printCounts(
    runs.flatMap(({ verdict }) => (verdict ? { outcome: verdict } : [])),
    results,
    checks,
  );

  console.log(bold("\nChecks that were not judged"));
  for (const [why, count] of tally(checks.flatMap(whyNotJudged))) {
    say(`${count} ${count === 1 ? "check" : "checks"}`, why);
  }

  console.log(bold("\nTests that did not run, and on how many traces"));
  for (const [why, tests] of notApplied(traces.flatMap(trace => trace.tests))) say(why, tests);

  const missing = judged.length - runs.length;
  if (missing > 0) console.log(`\nStill without a verdict: ${missing} of ${judged.length} traces.`);
}

type Judgement = { outcome: Outcome };

function printCounts(verdicts: Judgement[], results: Judgement[], checks: Check[]): void {
  console.log(bold(`\n${line("Totals", outcome => outcomeWords[outcome])}`));
  print("Traces", verdicts);
  print("Results of tests", results);
  print("Checks", checks);
  for (const { shape } of assertionSchema.options) {
    const [type] = shape.type.def.values;
    const own = checks.filter(check => check.type === type);
    print(`  ${type}`, own);
  }
}

function print(label: string, judgements: Judgement[]): void {
  const counts = tally(judgements.map(({ outcome }) => outcome));
  const cell = (outcome: Outcome) => {
    const count = counts.get(outcome) ?? 0;
    // To the right, under the outcome's word.
    const text = String(count).padStart(outcomeWords[outcome].length);
    return count === 0 ? dim(text) : coloured(outcome, text);
  };
  console.log(line(label, cell));
}

function line(label: string, cell: (outcome: Outcome) => string): string {
  return label.padEnd(widths.label) + outcomes.map(outcome => `  ${cell(outcome)}`).join("");
}

function say(why: string, what: string): void {
  for (const [at, text] of wrap(what, widths.text).entries()) {
    console.log(`  ${(at === 0 ? why : "").padEnd(widths.why)}${text}`);
  }
}

function whyNotJudged({ outcome, skipped, reason }: Check): string[] {
  if (outcome === "missing_instrumentation")
    return ["The trace lacks what they look at: missing instrumentation."];
  if (outcome !== "skipped") return [];
  return [skipped === "dependency" ? "A check that they depend on did not pass." : reason];
}

/** The tests that did not run, by why. */
function notApplied(tests: TraceDetail["tests"]): Map<string, string> {
  const by = Map.groupBy(
    tests.filter(({ applied }) => !applied),
    ({ why }) => why,
  );
  return new Map(
    [...by].map(([why, group]) => {
      const names = [...tally(group.map(({ name }) => name))].map(([name, count]) => `${name} (${count})`);
      return [why.replaceAll("_", " "), names.join(", ")];
    }),
  );
}

function tally<T>(items: T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}
