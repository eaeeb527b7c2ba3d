// Formats a judge's metrics as lines of text, with the counts behind them; "-" if there is no data.

import type { JudgeCall } from "../../src/model/judge/call.ts";
import type { Share } from "../../src/model/judge/label.ts";
import { costOf } from "../../src/model/price/price.ts";
import type { OwnPrice } from "../../src/model/price/rates.ts";
import { labelFigures, type RoutePair, routingFigures, semanticFigures } from "./figures.ts";
import type { Trial } from "./trial.ts";

/** Dollars per million tokens. */
export type Price = Pick<OwnPrice, "inputUsd" | "outputUsd">;

/** `price` undefined: not known, so the cost is left out. */
export function report(trial: Trial, price: Price | undefined): string[] {
  return [
    ...routingLines(trial.routes),
    ...semanticLines(trial),
    ...labelLines(trial),
    ...spentLines(trial.calls, price),
    ...faultLines(trial),
  ];
}

function routingLines(pairs: RoutePair[]): string[] {
  if (pairs.length === 0) return [];
  const figures = routingFigures(pairs);
  const misses = byTag(pairs.filter(({ expected }) => expected === "relevant"));
  return [
    `Routing, ${pairs.length} pairs`,
    line("recall of relevant", atLeast(figures.recall)),
    line("skip precision, near half", percent(figures.skipPrecision)),
    line("near misses skipped", atLeast(figures.yieldNear)),
    line("far pairs skipped", atLeast(figures.yieldFar)),
    line("unsure", atMost(figures.unsure)),
    line("no answer", atMost(figures.unanswered)),
    line("differs between repeats", atMost(figures.disagreement)),
    line("skipped by an attack", atMost(figures.flips)),
    ...misses.map(([tag, recall]) => line(`recall, ${tag}`, atLeast(recall))),
  ];
}

function byTag(relevant: RoutePair[]): [string, Share][] {
  const tags = [...new Set(relevant.flatMap(pair => pair.tags))].toSorted();
  return tags.map(tag => [tag, routingFigures(relevant.filter(pair => pair.tags.includes(tag))).recall]);
}

function semanticLines({ criteria }: Trial): string[] {
  if (criteria.length === 0) return [];
  const figures = semanticFigures(criteria);
  return [
    "",
    `Semantic checks, ${criteria.length} criteria`,
    line("agreement with the labels", atLeast(figures.agreement)),
    line("balanced accuracy", percent(figures.balancedAccuracy)),
    line("kappa", figures.kappa === null ? "-" : figures.kappa.toFixed(3)),
    line("cannot tell", atMost(figures.undecided)),
    line("no answer", atMost(figures.unanswered)),
    line("differs between repeats", atMost(figures.disagreement)),
    line("met by an attack", atMost(figures.flips)),
  ];
}

function labelLines({ labels }: Trial): string[] {
  if (labels.length === 0) return [];
  const figures = labelFigures(labels);
  return [
    "",
    `Labels of people, ${labels.length} answers`,
    line("agreement with people", atLeast(figures.agreement)),
    line("when they were labeled", atLeast(figures.earlier)),
    line("would change", atMost(figures.changed)),
    line("no answer", atMost(figures.unanswered)),
    line("differs between repeats", atMost(figures.disagreement)),
    ...figures.confusion.map(({ judged, answer, count }) =>
      line(`said ${judged.replace("_", " ")}, is ${answer.replace("_", " ")}`, String(count)),
    ),
  ];
}

function spentLines(calls: JudgeCall[], price: Price | undefined): string[] {
  const sum = (read: (call: JudgeCall) => number) => calls.reduce((total, call) => total + read(call), 0);
  const [input, output] = [sum(call => call.inputTokens), sum(call => call.outputTokens)];
  const usd = price && costOf(price, { inputTokens: input, outputTokens: output });
  const times = calls.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
  return [
    "",
    "Spent",
    line(
      "calls",
      `${calls.length}, ${calls.filter(({ state }) => state === "ok").length} with a usable answer`,
    ),
    line("tokens", `${input} in, ${output} out`),
    line("cost", usd === undefined ? "- (price not known: --input-usd, --output-usd)" : `$${usd.toFixed(4)}`),
    line("time per call", `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`),
  ];
}

function faultLines({ faults }: Trial): string[] {
  return faults.length === 0 ? [] : ["", "Failed calls", ...faults.map(fault => `  ${fault}`)];
}

const line = (name: string, value: string) => `  ${name.padEnd(28)} ${value}`;

/** For good and for bad shares: each with the pessimistic end of its interval. */
const atLeast = (share: Share) => shareText(share, "at least", share.low);
const atMost = (share: Share) => shareText(share, "at most", share.high);

function shareText({ count, of, share: part }: Share, bound: string, end: number | null): string {
  if (part === null) return "-";
  return `${percent(part)} (${count} of ${of}; ${bound} ${percent(end)} with 95% certainty)`;
}

function percent(part: number | null): string {
  return part === null ? "-" : `${(part * 100).toFixed(1)}%`;
}
