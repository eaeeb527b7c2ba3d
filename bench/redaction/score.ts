// Scores the built-in rules on labeled texts: recall and precision by rule, with what was missed and wrongly found.
import { readFileSync } from "node:fs";
import { builtInRules } from "../../src/model/redaction.ts";
import { OwnRules } from "../../src/redaction/own-rules.ts";
import { TextRedaction } from "../../src/redaction/text.ts";
import { Work, workMax } from "../../src/redaction/work.ts";

/** A text with the values that are to be found in it, in their order; nothing else is. */
export type Labeled = { text: string; language: string; values: { rule: string; value: string }[] };

/** Written by somebody who had not seen the rules. */
export function labeledTexts(): Labeled[] {
  const lines = readFileSync(new URL("./labeled.jsonl", import.meta.url), "utf8")
    .trim()
    .split("\n");
  return lines.map(line => JSON.parse(line));
}

/** `right` and `wrong` are of what was found, the others of what is labeled. `inClear`: something of it would be stored. */
export type Score = { labeled: number; found: number; inClear: number; right: number; wrong: number };
export type Mistake = { kind: "missed" | "wrong"; rule: string; value: string; text: string };

export function scoresOf(set: readonly Labeled[]): { byRule: Map<string, Score>; mistakes: Mistake[] } {
  const redaction = new TextRedaction(builtInRules, new OwnRules([]));
  const byRule = new Map<string, Score>(
    builtInRules.map(rule => [rule, { labeled: 0, found: 0, inClear: 0, right: 0, wrong: 0 }]),
  );
  const mistakes: Mistake[] = [];
  for (const { text, values } of set) {
    const places = redaction.find(text, new Work(workMax))!.map(({ start, end, rule }) => {
      return { start, end, rule: builtInRules[rule]! as string };
    });
    let from = 0;
    const labels = values.map(({ rule, value }) => {
      const start = text.indexOf(value, from);
      from = start + value.length;
      return { rule, start, end: from };
    });
    for (const label of labels) {
      const score = byRule.get(label.rule)!;
      const over = places.filter(place => overlap(place, label));
      score.labeled++;
      const isCovered = isEvery(text, label, at => over.some(({ start, end }) => start <= at && at < end));
      if (!isCovered) score.inClear++;
      if (isCovered && over.some(({ rule }) => rule === label.rule)) score.found++;
      else mistakes.push({ kind: "missed", ...said(text, label), text });
    }
    for (const place of places) {
      const isRight = labels.some(label => label.rule === place.rule && overlap(place, label));
      byRule.get(place.rule)![isRight ? "right" : "wrong"]++;
      if (!isRight) mistakes.push({ kind: "wrong", ...said(text, place), text });
    }
  }
  return { byRule, mistakes };
}

type Span = { start: number; end: number };

function overlap(a: Span, b: Span): boolean {
  return a.start < b.end && b.start < a.end;
}

/** Of the letters and digits. */
function isEvery(text: string, { start, end }: Span, is: (at: number) => boolean): boolean {
  for (let at = start; at < end; at++) if (/[\p{L}\p{N}]/u.test(text[at]!) && !is(at)) return false;
  return true;
}

function said(text: string, { rule, start, end }: Span & { rule: string }) {
  return { rule, value: text.slice(start, end) };
}

export function ratesOf({ labeled, found, right, wrong }: Score): { recall: number; precision: number } {
  return {
    recall: labeled === 0 ? 1 : found / labeled,
    precision: right + wrong === 0 ? 1 : right / (right + wrong),
  };
}
