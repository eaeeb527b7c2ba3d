// Checks of steps and tool calls on traces that are read by conventions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluateTest } from "../../src/evaluate/evaluate.ts";
import { noAnswers } from "../../src/evaluate/questions.ts";
import type { Attributes, MergedTrace, Span } from "../../src/model/trace/trace.ts";
import { readByConventions } from "../../src/reading/conventions/conventions.ts";
import { translateSpans } from "../../src/reading/conventions/translate.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { span, testCase, traceOf } from "./makers.ts";

const below = (name: string, attributes: Attributes, parent: string | null = "1"): Span =>
  span({ name, attributes, ...(parent === null ? { span_id: "1" } : {}), parent_span_id: parent });

function outcomesOf(trace: MergedTrace, conventions: string[], assertions: Record<string, unknown>[]) {
  const reading = readByConventions(trace.spans, conventions);
  const spans = reading ? translateSpans(trace.spans, reading) : trace.spans;
  const derived = derive(trace, undefined, reading);
  return evaluateTest({ ...trace, spans }, derived, testCase({ assertions }), noAnswers()).checks.map(
    ({ outcome }) => outcome,
  );
}

const documentedCall = {
  "gen_ai.tool.name": "get_weather",
  "gen_ai.tool.call.arguments": '{"city": "Paris"}',
};
const named: [what: string, spans: Span[]][] = [
  [
    "beside a tool's span of OpenLLMetry",
    [
      below("wf", { "traceloop.span.kind": "workflow" }, null),
      below("x", { "traceloop.workflow.name": "wf", "traceloop.entity.input": "{}", ...documentedCall }),
      below("lookup.tool", { "traceloop.span.kind": "tool", "traceloop.entity.name": "lookup" }),
    ],
  ],
  [
    "as the only call of a trace of OpenLLMetry",
    [
      below("wf", { "traceloop.span.kind": "workflow" }, null),
      below("x", { "traceloop.span.kind": "task", ...documentedCall }),
    ],
  ],
  [
    "on a chain of OpenInference",
    [
      below("agent", { "openinference.span.kind": "AGENT" }, null),
      below("x", { "openinference.span.kind": "CHAIN", "input.value": "{}", ...documentedCall }),
      below("lookup", { "openinference.span.kind": "TOOL", "tool.name": "lookup" }),
    ],
  ],
];
for (const [what, spans] of named) {
  test(`a call that gen_ai.tool.name names counts, and is no step, ${what}`, () => {
    const call = { type: "tool_call", expected_name: "get_weather" };
    const checks = [
      { ...call, expected_arguments: { city: "Paris" }, arguments_mode: "exact" },
      { ...call, negate: true },
      { type: "node_call", expected_name: "x", min: 0, max: 0 },
    ];
    const step = below("step", {});
    for (const conventions of [[], ["*"]])
      assert.deepEqual(outcomesOf(traceOf(...spans, step), conventions, checks), [
        "passed",
        "failed",
        "passed",
      ]);
  });
}

test("the usage of an agent at the root includes that of calls that tell none; without it the sum is unknown", () => {
  const call = (usage: Attributes) => ({
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m",
    ...usage,
  });
  const usage = (count: number) => ({
    "gen_ai.usage.input_tokens": count,
    "gen_ai.usage.output_tokens": count,
  });
  const calls = [below("chat", call(usage(5))), below("chat", call({}))];
  const limits = [20, 9].map(max_total => ({ type: "token_limit", max_total }));
  for (const conventions of [[], ["*"]]) {
    const outcomes = (root: Attributes) =>
      outcomesOf(traceOf(below("agent", root, null), ...calls), conventions, limits);
    const agent = { "gen_ai.operation.name": "invoke_agent" };
    assert.deepEqual(outcomes({ ...agent, ...usage(8) }), ["passed", "failed"]);
    assert.deepEqual(outcomes(agent), ["missing_instrumentation", "failed"]);
  }
});
