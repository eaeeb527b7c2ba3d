// An agent's own rules: attributes of its spans that are read as documented ones, before any convention.

import type { ConventionRule, RuleTarget } from "../../model/agent/read-by.ts";
import { ValueAllowance } from "../../model/json-text.ts";
import { isRecord } from "../../model/record.ts";
import type { Attributes, MergedTrace, Span } from "../../model/trace/trace.ts";
import { attributeOf } from "../span/conversation.ts";
import { mayBeJson, valuesInTexts } from "../span/count-values.ts";
import { messagesIn } from "../span/messages.ts";
import type { Sourced } from "../span/reading.ts";
import { ownRules } from "../span/sources.ts";
import { valueAt } from "../span/table.ts";
import { countOf } from "../span/values.ts";
import { documented } from "./translate.ts";

/** `value`: decoded; `sent`: as it is. Undefined if there is nothing of this kind. */
type Convert = (found: Sourced<unknown>, sent: unknown) => unknown;

/** Text without messages is itself one: the rule says so. */
const asMessages =
  (side: "user" | "assistant"): Convert =>
  (found, sent) => {
    const plain = { ...found, value: [{ role: side, content: sent }] };
    const isText = typeof sent === "string" && /\S/.test(sent);
    const messages = messagesIn(found, side) ?? (isText ? messagesIn(plain, side) : null);
    return messages?.value.map(documented);
  };

/** Also of whole numbers, as some send ids; of JSON only a text in quotes. */
const asText: Convert = ({ value }, sent) => {
  const text = typeof value === "string" ? value : sent;
  if (typeof text === "string") return /\S/.test(text) ? text : undefined;
  return Number.isSafeInteger(text) ? String(text) : undefined;
};

const asCount: Convert = ({ value }) => countOf(value) ?? undefined;

const asStatus: Convert = ({ value }) => {
  const status = countOf(value);
  return status !== null && status >= 100 && status <= 999 ? status : undefined;
};

/** What is no object is kept as the documented attribute is read. */
const asArguments: Convert = ({ value }) => (isRecord(value) ? value : { value });

/** The documented attributes that a rule may give; each makes its value of another, or undefined. */
const targets = {
  "gen_ai.input.messages": asMessages("user"),
  "gen_ai.prompt": asText,
  "gen_ai.output.messages": asMessages("assistant"),
  "gen_ai.response.text": asText,
  "gen_ai.tool.name": asText,
  "gen_ai.tool.call.id": asText,
  "gen_ai.tool.call.arguments": asArguments,
  "gen_ai.tool.call.result": ({ value }) => value,
  "gen_ai.usage.input_tokens": asCount,
  "gen_ai.usage.output_tokens": asCount,
  "gen_ai.usage.reasoning.output_tokens": asCount,
  "gen_ai.usage.cache_read.input_tokens": asCount,
  "gen_ai.request.model": asText,
  "gen_ai.response.model": asText,
  "gen_ai.provider.name": asText,
  "gen_ai.conversation.id": asText,
  "user.id": asText,
  "http.response.status_code": asStatus,
} satisfies Record<RuleTarget, Convert>;

/** What rules gave a trace. `matches`: for each rule, how many spans it gave its attribute. */
export type Ruled = { trace: MergedTrace; matches: number[] };

/**
 * The trace with copies of those spans that a rule matches. On a span the first rule that has a value for an attribute gives
 * it, in place of the span's own. A trace with more values in the attributes of rules than the allowance has is left alone.
 */
export function applyRules(
  trace: MergedTrace,
  rules: readonly ConventionRule[],
  allowance = new ValueAllowance(),
): Ruled {
  const matches = rules.map(() => 0);
  if (rules.length === 0) return { trace, matches };
  const values = valuesInTexts(textsOf(trace.spans, rules));
  if (values > allowance.left) return { trace, matches };
  allowance.left -= values;
  const spans = trace.spans.map(span => {
    const given = new Map<RuleTarget, { value: unknown; attribute: string }>();
    for (const [at, rule] of rules.entries()) {
      if (given.has(rule.to) || !isNamed(span, rule)) continue;
      const found = valueAt(span, pathOf(rule));
      const value = found ? (targets[rule.to] as Convert)(found, attributeOf(span, rule.from)) : undefined;
      if (value === undefined) continue;
      given.set(rule.to, { value, attribute: found!.attribute });
      matches[at]!++;
    }
    return given.size === 0 ? span : withGiven(span, given);
  });
  return { trace: { ...trace, spans }, matches };
}

function withGiven(span: Span, given: Map<string, { value: unknown; attribute: string }>): Span {
  const attributes: Attributes = { ...span.attributes };
  const translated = { ...span.translated };
  for (const [to, { value, attribute }] of given) {
    attributes[to] = value;
    translated[to] = { attribute, convention: ownRules };
  }
  return { ...span, attributes, translated };
}

function isNamed({ name }: Span, { spanName }: ConventionRule): boolean {
  if (spanName === undefined) return true;
  return spanName.endsWith("*") ? name.startsWith(spanName.slice(0, -1)) : name === spanName;
}

/** As `valueAt` has it: the prefix of a flattened list ends in a dot. */
function pathOf({ from }: ConventionRule): string {
  return from.endsWith(".*") ? from.slice(0, -1) : from;
}

/** What the rules may parse, once for each rule. */
function textsOf(spans: Span[], rules: readonly ConventionRule[]): string[] {
  const texts: string[] = [];
  const add = (value: unknown) => {
    if (typeof value === "string" && mayBeJson(value)) texts.push(value);
  };
  for (const span of spans) {
    for (const rule of rules) {
      if (!isNamed(span, rule)) continue;
      const path = pathOf(rule);
      if (!path.endsWith(".")) add(attributeOf(span, path));
      else for (const key in span.attributes) if (key.startsWith(path)) add(span.attributes[key]);
    }
  }
  return texts;
}
