// Sentences for reason codes: why a check, a test or a run had its outcome.
import type { ReasonCode, ReasonData, SomeNames } from "../src/model/run/reason.ts";
import { durationText, numberText } from "./format.ts";
import { moneyText } from "./money.ts";

type Reasoned = {
  reason: string;
  reasonCode?: string | undefined;
  reasonData?: Record<string, unknown> | undefined;
};

/** Results stored before reasons had codes, and codes of a later version, keep their stored sentence. */
export function reasonText({ reason, reasonCode, reasonData = {} }: Reasoned): string {
  const sentence = Object.hasOwn(sentences, reasonCode ?? "")
    ? sentences[reasonCode as ReasonCode]
    : undefined;
  if (!sentence) return reason;
  const text = (sentence as (data: unknown) => string)(reasonData);
  // A negated range is part of the sentence.
  return reasonData["negated"] === true && !("min" in reasonData) ? `Negated: ${text}` : text;
}

/** The other codes have nothing to format, so their stored sentence is used. */
const sentences: { [C in ReasonCode]?: (data: NonNullable<ReasonData[C]>) => string } = {
  tool_call_count: ({ name, count, withArguments, instead, ...range }) =>
    `${countText(count, "call")} of ${quote(name)}${withArguments ? " with the expected arguments" : ""} (expected ${rangeText(range)})${
      instead === undefined ? "" : `; ${insteadText(instead)}`
    }.`,
  step_count: ({ name, count, steps, ...range }) =>
    `${countText(count, "step")} with ${quote(name)} in the name (expected ${rangeText(range)})${
      steps ? `; the steps are ${listText(steps)}` : ""
    }.`,
  token_usage: ({ usages }) =>
    `The trace used ${usages
      .map(({ kind, used, max }) => `${numberText(used)} ${kind} tokens (limit ${numberText(max)})`)
      .join(", ")}.`,
  duration: ({ ms, maxMs, received }) =>
    `The ${received ? "reply" : "trace"} took ${durationText(ms)} (limit ${durationText(maxMs)}).`,
  pattern_found: ({ pattern, target }) => `${quote(pattern)} was found in ${textOf(target)}.`,
  pattern_not_found: ({ pattern, target }) => `${quote(pattern)} was not found in ${textOf(target)}.`,
  value_matches: ({ field, span }) => `${quote(field)} of ${quote(span)} is the expected value.`,
  value_differs: ({ field, span, others }) =>
    `${quote(field)} of ${quote(span)} is not the expected value${
      others > 0 ? `, nor is it in ${numberText(others)} more ${others === 1 ? "span" : "spans"}` : ""
    }.`,
  schema_valid: ({ field, target }) => `${quote(field)} of the span named like ${quote(target)} is valid.`,
  schema_invalid: ({ field, target, fault }) =>
    `${quote(field)} of the span named like ${quote(target)} is invalid: ${fault}`,
  no_attribute: ({ target, field }) =>
    `No span named like ${quote(target)} has the attribute ${quote(field)}.`,
  no_span: ({ target, spans }) => `No span is named like ${quote(target)}; the spans are ${listText(spans)}.`,
  no_steps: ({ name }) =>
    `The trace has no steps besides its root, so it is unknown whether ${quote(name)} ran.`,
  dependency_not_passed: ({ id }) => `Depends on ${quote(id)}, which did not pass.`,
  dependency_waiting: ({ id }) => `Depends on ${quote(id)}, which is waiting for the judge.`,
  too_many_values: ({ values, max }) =>
    `Only the latest ${max} of ${numberText(values)} values were checked.`,
  text_too_long: ({ max }) =>
    `The text is longer than ${numberText(max)} characters, the most that is checked.`,
  sandbox_timeout: ({ ms }) => `This check took longer than its limit of ${durationText(ms)}.`,
  agent_error: ({ turn, message }) =>
    `Agent error${turn === undefined ? "" : ` in turn ${numberText(turn)}`}: ${message}`,
  no_judge: () => "No judge is configured.",
  reply_too_long: ({ shown, of }) =>
    `The reply is too long to judge: ${numberText(of)} characters, of which the judge can be shown ${numberText(shown)}.`,
  judge_budget_spent: budget =>
    `The agent’s daily judge budget of ${
      "usd" in budget ? moneyText(budget.usd) : `${numberText(budget.tokens)} tokens`
    } is used up. It resets at 00:00 UTC.`,
};

function quote(name: string): string {
  return `“${name}”`;
}

function listText({ names, more }: SomeNames): string {
  return names.map(quote).join(", ") + (more ? ` and ${numberText(more)} more` : "");
}

function countText(count: number, noun: string): string {
  return `${count === 0 ? "No" : numberText(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** "at least 1", "at most 3", "exactly 2", "2 to 4". */
type Range = { min: number; max?: number; negated?: boolean };

function rangeText({ min, max, negated = false }: Range): string {
  if (negated) return negatedRangeText({ min, ...(max !== undefined && { max }) });
  if (max === undefined) return `at least ${numberText(min)}`;
  if (max === min) return `exactly ${numberText(min)}`;
  return min === 0 ? `at most ${numberText(max)}` : `${numberText(min)} to ${numberText(max)}`;
}

function negatedRangeText({ min, max }: { min: number; max?: number }): string {
  if (max === undefined) return min === 1 ? "none" : `fewer than ${numberText(min)}`;
  if (max === min) return `any number but ${numberText(min)}`;
  if (min === 0) return `more than ${numberText(max)}`;
  return `fewer than ${numberText(min)} or more than ${numberText(max)}`;
}

function insteadText(instead: NonNullable<ReasonData["tool_call_count"]["instead"]>): string {
  if (instead === "other_arguments") return "the arguments differ";
  if (instead === "no_calls") return "the trace has no tool calls";
  if ("called" in instead) return `called instead: ${listText(instead.called)}`;
  return `names must match exactly, and ${listText(instead.similar)} does not`;
}

function textOf(target: string | undefined): string {
  return target === undefined ? "the reply" : `a text of ${quote(target)}`;
}
