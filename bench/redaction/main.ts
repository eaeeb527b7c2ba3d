// npm run bench:redaction: recall and precision of the built-in rules on the labeled set, with what they miss; with `hostile`,
// what texts cost that were made to be slow.
import { type Mistake, ratesOf, type Score, scoresOf, totalOf } from "./score.ts";
import { type Labeled, labeledSet } from "./set.ts";
import { hostileSpeeds, speeds } from "./speed.ts";

const isVerbose = process.argv.includes("--verbose");
if (process.argv.includes("hostile")) for (const line of hostileSpeeds()) print(line);
else {
  const set = labeledSet();
  report(
    "Tuned on",
    set.filter(one => !one.isHeldOut),
  );
  report(
    "Held out",
    set.filter(one => one.isHeldOut),
  );
  if (!process.argv.includes("--no-speed")) for (const line of speeds()) print(line);
}

function report(title: string, some: readonly Labeled[]): void {
  const scores = scoresOf(some);
  const negatives = some.filter(one => one.rule === null).length;
  print(`\n${title}: ${some.length} values, ${negatives} of them hard negatives`);
  print(row(["rule", "values", "recall", "precision", "missed", "wrong"]));
  for (const [rule, score] of [...scores.byRule, ["all", totalOf(scores)] as const])
    print(rowOf(rule, score));
  list("missed", scores.missed);
  list("wrong", scores.wrong);
}

function rowOf(rule: string, score: Score): string {
  const { recall, precision } = ratesOf(score);
  const percent = (rate: number) => `${(rate * 100).toFixed(1)} %`;
  return row([
    rule,
    String(score.labeled),
    percent(recall),
    percent(precision),
    String(score.labeled - score.found),
    String(score.wrong),
  ]);
}

function list(title: string, mistakes: readonly Mistake[]): void {
  const shown = isVerbose ? mistakes : mistakes.slice(0, 12);
  for (const { one, stored, rule } of shown) {
    print(
      `  ${title} [${rule}] ${one.language}, ${one.kind}: ${JSON.stringify(one.text)} -> ${JSON.stringify(stored)}`,
    );
  }
  if (shown.length < mistakes.length)
    print(`  … ${mistakes.length - shown.length} more ${title}; --verbose lists all`);
}

function row(cells: string[]): string {
  return cells.map((cell, at) => (at === 0 ? cell.padEnd(10) : cell.padStart(10))).join(" ");
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
