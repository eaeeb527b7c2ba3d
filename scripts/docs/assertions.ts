// Generates the reference of assertions: their fields from the schema, and examples with their evaluated results.

import { z } from "zod";
import { evaluateTest } from "../../src/evaluate/evaluate.ts";
import type { Answers } from "../../src/evaluate/finding.ts";
import { noAnswers, openQuestions } from "../../src/evaluate/questions.ts";
import type { VerdictWord } from "../../src/model/judge/call.ts";
import type { SemanticAnswer } from "../../src/model/judge/judge.ts";
import { RunBudget } from "../../src/model/run/budget.ts";
import type { Check } from "../../src/model/run/run.ts";
import {
  type AssertionType,
  assertionInputSchema,
  assertionTypes,
} from "../../src/model/test-case/assertion.ts";
import { parseTestCase } from "../../src/model/test-case/test-case.ts";
import type { MergedTrace, Span } from "../../src/model/trace/trace.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { Sandbox } from "../../src/remote/sandbox/sandbox.ts";
import { type Example, examples } from "./assertion-examples.ts";
import { code, number, table } from "./table.ts";

const fieldTexts: Record<string, string> = {
  "node_call.expected_name": "The name to look for, or a part of it.",
  "tool_call.expected_name": "The whole name of the tool.",
  min: "The minimum count.",
  max: "The maximum count.",
  expected_arguments: "What the arguments must contain.",
  arguments_mode: "Whether further arguments are allowed.",
  max_total: "Input and output tokens together.",
  max_input: "Input tokens.",
  max_output: "Output tokens, reasoning included.",
  max_reasoning: "Reasoning tokens.",
  expected_status: "A status, a list of them, or a class.",
  max_ms: "Milliseconds.",
  pattern: "A regular expression.",
  flags: "Any of `i`, `m`, `s`.",
  target_node: "Part of the name of the spans to look at.",
  "response_regex.match": "With `target_node`: how many of the spans must match. Default: `any`.",
  "json_match.match": "How many of the spans must match. Default: `any`.",
  "semantic.match":
    "With `target_node`: how many of the spans must reach the threshold. Default: `all`; with `negate`, `any`.",
  "json_schema.match": "How many of the spans must be valid. Default: `all`; with `negate`, `any`.",
  criteria: "One question about the reply, or several.",
  rests_on: "What shows that a criterion is met: `passage`, `whole` or `absence`; else the judge is asked.",
  reference: "A good reply in your own words.",
  threshold: "0 to 1. Default: the test's threshold.",
  context:
    "What the judge sees beside the user's input and the reply: nothing (`reply`), the earlier messages and system instructions (`conversation`), or tool calls and their results too. Default: `conversation_and_tools`.",
  field: "The attribute's key.",
  expected_value: "Any JSON value.",
  schema: "A JSON Schema.",
  id: "Unique in its test; generated if absent.",
  description: "For people. Shown with the result.",
  negate: "Reverses the result of a comparison. A comparison that was not possible is not reversed.",
  depends_on: "Ids of assertions that must have passed; otherwise this check is skipped.",
  turn: 'For tests of several turns: the turn to look at, a number from 1 or `"last"`, or `"each"`: the check has to pass in every turn. Default: the whole conversation; its reply and HTTP status are those of the last turn.',
};

const commonFields = ["id", "description", "negate", "depends_on", "turn"];

type Schema = {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  pattern?: string;
  anyOf?: Schema[];
};
type Variant = { properties: Record<string, Schema>; required: string[] };

export async function assertionReference(): Promise<string> {
  const { oneOf } = z.toJSONSchema(assertionInputSchema, {
    io: "input",
    unrepresentable: "any",
  }) as unknown as {
    oneOf: Variant[];
  };
  const variantOf = (type: AssertionType) =>
    oneOf.find(({ properties }) => properties["type"]!.const === type)!;
  const common = ["Every assertion may also have:", "", fieldTable(oneOf[0]!, commonFields)];
  const sections: string[] = [];
  for (const type of assertionTypes) {
    const variant = variantOf(type);
    const own = Object.keys(variant.properties).filter(
      name => name !== "type" && !commonFields.includes(name),
    );
    sections.push(`## ${type}`, "", await section(type, fieldTable(variant, own, type)), "");
  }
  return [...common, "", ...sections].join("\n").trimEnd();
}

function fieldTable({ properties, required }: Variant, names: string[], type?: AssertionType): string {
  const rows = names.map(name => {
    const schema = properties[name]!;
    const text = fieldTexts[`${type}.${name}`] ?? fieldTexts[name];
    if (text === undefined) throw new Error(`scripts/docs/assertions.ts does not describe the field ${name}`);
    const need = required.includes(name)
      ? "required"
      : schema.default === undefined
        ? "optional"
        : `default ${code(JSON.stringify(schema.default))}`;
    return [code(name), accepted(schema), need, text];
  });
  return table(["Field", "Value", "", ""], rows);
}

function accepted(schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map(accepted).join(", or ");
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum) return schema.enum.map(value => code(JSON.stringify(value))).join(" or ");
  if (schema.pattern && schema.maxLength === undefined) return "text such as `2xx`";
  switch (schema.type) {
    case "integer":
    case "number": {
      const max =
        schema.maximum === undefined || schema.maximum === Number.MAX_SAFE_INTEGER
          ? ""
          : ` to ${schema.maximum}`;
      const kind = schema.type === "integer" ? "whole number" : "number";
      return `${kind} from ${schema.minimum ?? 0}${max}`;
    }
    case "string":
      return schema.maxLength ? `text, at most ${number(schema.maxLength)} characters` : "text";
    case "boolean":
      return "`true` or `false`";
    case "array":
      return `list of ${schema.minItems ? `${schema.minItems} to` : "at most"} ${schema.maxItems} (${accepted(schema.items!)})`;
    case "null":
      return "`null`";
    default:
      return "any JSON";
  }
}

async function section(type: AssertionType, fields: string): Promise<string> {
  const { about, assertion, passes, fails, notes = [] } = examples[type];
  const lines = [about, "", fields, "", ...notes.map(note => `- ${note}`), ...(notes.length > 0 ? [""] : [])];
  lines.push("```json", inline(assertion), "```", "");
  for (const [spans, outcome] of [
    [passes, "passed"],
    [fails, "failed"],
  ] as const) {
    const check = await checkExample(assertion, spans, outcome);
    if (check.outcome !== outcome)
      throw new Error(`The example of ${type} is ${check.outcome}: ${check.reason}`);
    lines.push(`**${outcome === "passed" ? "Passes" : "Fails"}**: ${check.reason}`, "", "```json");
    lines.push(
      `[\n${spansOf(spans)
        .map(span => `  ${inline(written(span))}`)
        .join(",\n")}\n]`,
      "```",
      "",
    );
  }
  return lines.join("\n").trimEnd();
}

/** JSON on one line, with spaces. */
function inline(value: unknown): string {
  return JSON.stringify(value, null, 1).replaceAll(/\n */g, " ");
}

/** Evaluates the assertion on a trace of these spans, with a fake judge's answer that leads to `outcome`. */
async function checkExample(
  assertion: Record<string, unknown>,
  spans: Example["passes"],
  outcome: "passed" | "failed",
): Promise<Check> {
  const document = parseTestCase({
    name: "Example",
    passiveBehavior: "always_run",
    turns: [{ input: "Where is my order?" }],
    assertions: [assertion],
  });
  const test = { ...document, id: "example", agentId: "example", version: 1 };
  const trace: MergedTrace = { spans: spansOf(spans), resource: null, metadata: null, path: "canonical" };
  const derived = derive(trace);
  const answers: Answers = noAnswers();
  const sandbox = new Sandbox();
  for (;;) {
    const open = openQuestions(trace, derived, [test], answers);
    if (open.semantic.length + open.sandbox.length === 0) break;
    for (const { key } of open.semantic)
      answers.semantic.set(key, judged(outcome === "passed" ? "met" : "not_met"));
    for (const { key, question } of open.sandbox)
      answers.sandbox.set(
        key,
        await sandbox.answer(question, { accountId: "docs", agentId: "example", budget: new RunBudget() }),
      );
  }
  await sandbox.close();
  return evaluateTest(trace, derived, test, answers).checks[0]!;
}

const judge = { provider: "openai", model: "example", promptVersion: "1" } as const;

function judged(verdict: VerdictWord): SemanticAnswer {
  const score = verdict === "met" ? 1 : 0;
  const reason = verdict === "met" ? "The reply says Tuesday." : "The reply names no day.";
  const votes = [{ score, verdicts: [{ verdict, evidence: "", reason }] }];
  return { code: "ok", score, votes, ...judge, cached: false };
}

const startMs = 1_795_206_705_000;

function spansOf(spans: Example["passes"]): Span[] {
  return spans.map(({ name, attributes, ms }, at) => ({
    span_id: String(at + 1),
    parent_span_id: at === 0 ? null : "1",
    name,
    start_time_unix_nano: ms === undefined ? null : `${startMs}000000`,
    end_time_unix_nano: ms === undefined ? null : `${startMs + ms}000000`,
    attributes: attributes as Span["attributes"],
    status: null,
    events: [],
  }));
}

/** Without empty fields, as a client would write it. */
function written(span: Span): Partial<Span> {
  const entries = Object.entries(span).filter(([name, value]) => {
    return (
      value !== null &&
      !(name === "events") &&
      !(name === "attributes" && Object.keys(value as object).length === 0)
    );
  });
  return Object.fromEntries(entries);
}
