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

const changes: BacktestChange[] = ["broke", "fixed", "changed", "other_cause", "new", "same", "none"];
const worstFirst: (Outcome | null)[] = ["failed", "missing_instrumentation", "passed", "skipped", null];

type Words = Record<Outcome, { text: string }>;

export function groupsOf(groups: readonly BacktestGroup[], words: Words): ShownGroup[] {
  const isWithout = ({ after, change }: BacktestGroup) => change === "none" && after === null;
  const undecided = groups.filter(isWithout);
  const traces = undecided.reduce((sum, group) => sum + group.traces, 0);
  const decided = groups.filter(group => !isWithout(group));
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
      key: keyOf(group),
      text: textOf(group, words),
    }));
}

function keyOf({ before, after, change }: BacktestGroup): string {
  const outcomes = `${before ?? "none"}.${after ?? "none"}`;
  return change === "other_cause" || (change === "none" && after) ? `${change}.${outcomes}` : outcomes;
}

function textOf({ before, after, change }: BacktestGroup, words: Words): string {
  if (after === null) return "No outcome";
  const word = words[after].text;
  if (change === "none") return `${word}, not fully evaluated`;
  if (change === "other_cause") return `${words[before!].text} → ${word}, not by the test`;
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
  const others = sum("other_cause");
  const beside =
    others > 0 ? ` ${numberText(others)} ${others === 1 ? "differs" : "differ"} for another reason.` : "";
  if (compared === 0) {
    if (others > 0) return beside.trim();
    return fresh > 0
      ? `${numberText(fresh)} trace${fresh === 1 ? "" : "s"} without an earlier result.`
      : "No outcomes.";
  }
  const verdicts = `${numberText(compared)} verdict${compared === 1 ? "" : "s"}`;
  if (flips === 0) return `None of ${verdicts} ${compared === 1 ? "flips" : "flip"}.${beside}`;
  return `${numberText(flips)} of ${verdicts} ${flips === 1 ? "flips" : "flip"}.${beside}`;
}
