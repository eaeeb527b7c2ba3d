// Prints the totals below the table: counts by outcome, and why checks and tests did not run.

import type { TraceDetail } from "../src/http/traces/schemas.ts";
import type { Outcome } from "../src/model/run/outcome.ts";
import type { Check } from "../src/model/run/run.ts";
import { assertionSchema } from "../src/model/test-case/assertion.ts";
import { bold, colored, dim, outcomeLabels, outcomes, wrap } from "./terminal.ts";
import type { SentTrace } from "./traffic.ts";

const widths = { label: 18, why: 21, text: 75 };

export function printTotals(sent: SentTrace[]): void {
  const traces = sent.flatMap(({ trace }) => trace ?? []);
  const runs = traces.flatMap(({ runs }) => runs.find(({ state }) => state === "completed") ?? []);
  const results = runs.flatMap(run => run.results);
  const checks = results.flatMap(result => result.checks);
  printCounts(
    runs.flatMap(({ verdict }) => (verdict ? { outcome: verdict } : [])),
    results,
    checks,
  );

  console.log(bold("\nChecks that neither passed nor failed"));
  for (const [why, count] of tally(checks.flatMap(whyUndecided))) {
    printWhy(`${count} ${count === 1 ? "check" : "checks"}`, why);
  }

  console.log(bold("\nTests that did not run (number of traces)"));
  for (const [why, tests] of notApplied(traces.flatMap(trace => trace.tests))) printWhy(why, tests);

  const missing = sent.length - runs.length;
  if (missing > 0) console.log(`\nStill without a verdict: ${missing} of ${sent.length} traces.`);
}

type Verdict = { outcome: Outcome };

function printCounts(verdicts: Verdict[], results: Verdict[], checks: Check[]): void {
  console.log(bold(`\n${line("Totals", outcome => outcomeLabels[outcome])}`));
  print("Traces", verdicts);
  print("Test results", results);
  print("Checks", checks);
  for (const { shape } of assertionSchema.options) {
    const [type] = shape.type.def.values;
    const own = checks.filter(check => check.type === type);
    print(`  ${type}`, own);
  }
}

function print(label: string, verdicts: Verdict[]): void {
  const counts = tally(verdicts.map(({ outcome }) => outcome));
  const cell = (outcome: Outcome) => {
    const count = counts.get(outcome) ?? 0;
    // Right-aligned below the outcome's label.
    const text = String(count).padStart(outcomeLabels[outcome].length);
    return count === 0 ? dim(text) : colored(outcome, text);
  };
  console.log(line(label, cell));
}

function line(label: string, cell: (outcome: Outcome) => string): string {
  return label.padEnd(widths.label) + outcomes.map(outcome => `  ${cell(outcome)}`).join("");
}

function printWhy(why: string, what: string): void {
  for (const [at, text] of wrap(what, widths.text).entries()) {
    console.log(`  ${(at === 0 ? why : "").padEnd(widths.why)}${text}`);
  }
}

function whyUndecided({ outcome, skipped, reason }: Check): string[] {
  if (outcome === "missing_instrumentation")
    return ["Missing instrumentation: the trace does not contain what they check."];
  if (outcome !== "skipped") return [];
  return [skipped === "dependency" ? "A check they depend on did not pass." : reason];
}

/** The tests that did not run, by reason. */
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
