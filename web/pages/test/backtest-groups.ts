// The groups of a backtest's results as the panel lists them: verdicts that flip first, then new ones, then the rest.

import type { BacktestGroup } from "../../../src/http/test-cases/backtest-schemas.ts";
import type { BacktestChange } from "../../../src/model/run/backtest.ts";
import type { Outcome } from "../../../src/model/run/outcome.ts";
import { numberText } from "../../format.ts";

export type ShownGroup = BacktestGroup & {
  /** In the URL. */
  key: string;
  text: string;
};

const changes: BacktestChange[] = ["broke", "fixed", "changed", "new", "same", "none"];
const worstFirst: (Outcome | null)[] = ["failed", "missing_instrumentation", "passed", "skipped", null];

type Words = Record<Outcome, { text: string }>;

export function groupsOf(groups: readonly BacktestGroup[], words: Words): ShownGroup[] {
  const undecided = groups.filter(({ change }) => change === "none");
  const traces = undecided.reduce((sum, group) => sum + group.traces, 0);
  const decided = groups.filter(({ change }) => change !== "none");
  const all: BacktestGroup[] = [
    ...decided,
    ...(traces > 0 ? [{ before: null, after: null, change: "none" as const, traces }] : []),
  ];
  return all
    .toSorted(
      (a, b) =>
        changes.indexOf(a.change) - changes.indexOf(b.change) ||
        worstFirst.indexOf(a.after) - worstFirst.indexOf(b.after) ||
        b.traces - a.traces,
    )
    .map(group => ({
      ...group,
      key: `${group.before ?? "none"}.${group.after ?? "none"}`,
      text: textOf(group, words),
    }));
}

function textOf({ before, after, change }: BacktestGroup, words: Words): string {
  if (after === null) return "No outcome";
  const word = words[after].text;
  if (change === "new" || before === null) return `New: ${word}`;
  return change === "same" ? `Unchanged: ${word}` : `${words[before].text} → ${word}`;
}

/** "12 of 1,000 verdicts flip"; also if all traces are new to the test. */
export function summaryText(groups: readonly BacktestGroup[]): string {
  const sum = (...of: BacktestChange[]) =>
    groups.reduce((all, { change, traces }) => all + (of.includes(change) ? traces : 0), 0);
  const flips = sum("broke", "fixed", "changed");
  const compared = flips + sum("same");
  const fresh = sum("new");
  if (compared === 0) {
    return fresh > 0
      ? `${numberText(fresh)} trace${fresh === 1 ? "" : "s"} without an earlier result.`
      : "No outcomes.";
  }
  const verdicts = `${numberText(compared)} verdict${compared === 1 ? "" : "s"}`;
  if (flips === 0) return `None of ${verdicts} ${compared === 1 ? "flips" : "flip"}.`;
  return `${numberText(flips)} of ${verdicts} ${flips === 1 ? "flips" : "flip"}.`;
}
