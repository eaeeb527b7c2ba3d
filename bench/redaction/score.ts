// Scores the built-in rules on labeled texts: recall and precision by rule, with what was missed and wrongly found.

import { builtInRules } from "../../src/model/redaction.ts";
import { openRedactor, type Redactor } from "../../src/redaction.ts";
import type { Labeled } from "./set.ts";

export type Score = { labeled: number; found: number; right: number; wrong: number };
export type Mistake = { one: Labeled; stored: string; rule: string };
export type Scores = { byRule: Map<string, Score>; missed: Mistake[]; wrong: Mistake[] };

/** A value is found if nothing of it is stored and its rule's placeholder is. Any placeholder of another rule is wrong. */
export function scoresOf(set: readonly Labeled[]): Scores {
  const redactor = openRedactor({ builtIn: ["*"], rules: [], pseudonyms: [] }, value => value)!;
  const byRule = new Map<string, Score>(
    builtInRules.map(rule => [rule, { labeled: 0, found: 0, right: 0, wrong: 0 }]),
  );
  const [missed, wrong]: Mistake[][] = [[], []];
  for (const one of set) {
    const { stored, counts, isFound } = judged(redactor, one);
    const score = one.rule === null ? undefined : byRule.get(one.rule)!;
    if (score) {
      score.labeled++;
      if (isFound) score.found++;
      else missed!.push({ one, stored, rule: one.rule! });
    }
    for (const [rule, count] of counts) {
      const isRight = rule === one.rule;
      byRule.get(rule)![isRight ? "right" : "wrong"] += count;
      if (!isRight) wrong!.push({ one, stored, rule });
    }
  }
  return { byRule, missed: missed!, wrong: wrong! };
}

function judged(redactor: Redactor, { text, value, rule }: Labeled) {
  const found = redactor.text(text);
  const { text: stored } = found;
  const counts = Object.entries(found.counts);
  const at = text.indexOf(value);
  const rest = [text.slice(0, at), text.slice(at + value.length)];
  // The value alone is replaced if the text around it is still there.
  const isExact = counts.length > 0 && stored.startsWith(rest[0]!) && stored.endsWith(rest[1]!);
  const isFound =
    rule !== null &&
    counts.some(([name]) => name === rule) &&
    (isExact || !stored.includes(value.slice(0, 5)));
  return { stored, counts, isFound };
}

export function ratesOf({ labeled, found, right, wrong }: Score): { recall: number; precision: number } {
  return {
    recall: labeled === 0 ? 1 : found / labeled,
    precision: right + wrong === 0 ? 1 : right / (right + wrong),
  };
}

export function totalOf(scores: Scores): Score {
  const total: Score = { labeled: 0, found: 0, right: 0, wrong: 0 };
  for (const score of scores.byRule.values()) {
    for (const key of ["labeled", "found", "right", "wrong"] as const) total[key] += score[key];
  }
  return total;
}
