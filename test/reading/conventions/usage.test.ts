// The tokens of a trace that conventions read: each kind from the deepest spans that have it.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attributes, Span } from "../../../src/model/trace/trace.ts";
import { withoutContent } from "../../../src/reading/content/structure.ts";
import { readTraceBy } from "../../../src/reading/conventions/read-by.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { makeBatch, makeSpan, makeTrace } from "../../model/make-trace.ts";

const span = (id: string, parent: string | null, operation: string, attributes: Attributes): Span =>
  makeSpan(id, {
    parent_span_id: parent,
    attributes: { "gen_ai.operation.name": operation, "gen_ai.request.model": "m", ...attributes },
  });
const input = (tokens: number) => ({ "gen_ai.usage.input_tokens": tokens });
const output = (tokens: number) => ({ "gen_ai.usage.output_tokens": tokens });
const reasoning = (tokens: number) => ({ "gen_ai.usage.reasoning.output_tokens": tokens });
const cached = (tokens: number) => ({ "gen_ai.usage.cache_read.input_tokens": tokens });

/** The tokens of the trace, of its model calls, and of what is left without content. */
function tokensIn(spans: Span[], conventions = ["opentelemetry"]) {
  const by = { conventions, conventionRules: [] };
  const derived = (some: Span[]) => {
    const { trace, reading } = readTraceBy(makeTrace(some), by);
    return derive(trace, undefined, reading);
  };
  const { tokens, modelCalls } = derived(spans);
  const left = derived(withoutContent(makeBatch(spans), "otlp", by, "none").spans);
  assert.deepEqual(left.tokens, tokens);
  assert.deepEqual(left.modelCalls, modelCalls);
  const priced = modelCalls.flatMap(({ tokens }) => (tokens ? [tokens.input + tokens.output] : []));
  assert.equal(priced.length === 0 ? null : priced.reduce((sum, one) => sum + one), tokens.total);
  return [tokens.input, tokens.output, tokens.reasoning];
}

test("an agent's count of a kind that no call below it has is counted", () => {
  const agent = { ...input(30), ...output(12), ...reasoning(4) };
  const cases: [call: Attributes, tokens: (number | null)[]][] = [
    [input(30), [30, 12, 4]],
    [output(10), [30, 10, 4]],
    [{ ...input(20), ...output(10), ...reasoning(3) }, [20, 10, 3]],
  ];
  for (const [call, tokens] of cases) {
    const spans = [span("agent", null, "invoke_agent", agent), span("call", "agent", "chat", call)];
    assert.deepEqual(tokensIn(spans), tokens);
  }
});

test("cached tokens count where the input does that they are part of", () => {
  const spans = [
    span("agent", null, "invoke_agent", { ...input(90), ...output(12), ...cached(80) }),
    span("call", "agent", "chat", input(30)),
  ];
  const { trace, reading } = readTraceBy(makeTrace(spans), {
    conventions: ["opentelemetry"],
    conventionRules: [],
  });
  assert.equal(derive(trace, undefined, reading).tokens.cached, null);
  assert.deepEqual(tokensIn(spans), [30, 12, null]);
});

test("the spans whose tokens count are told for each kind", () => {
  const spans = [
    span("agent", null, "invoke_agent", { ...input(30), ...output(12) }),
    span("call", "agent", "chat", input(30)),
  ];
  const { trace, reading } = readTraceBy(makeTrace(spans), {
    conventions: ["opentelemetry"],
    conventionRules: [],
  });
  const { tokenSpans } = derive(trace, undefined, reading);
  assert.deepEqual(tokenSpans, { input: ["call"], output: ["agent"], reasoning: [] });
});

test("of several agents one above another the deepest with a kind counts", () => {
  const spans = [
    span("outer", null, "invoke_agent", { ...input(30), ...output(12) }),
    span("inner", "outer", "invoke_agent", { ...input(30), ...output(12) }),
    span("call", "inner", "chat", input(30)),
  ];
  assert.deepEqual(tokensIn(spans), [30, 12, null]);
});

test("reasoning tokens count also on a span that has no others", () => {
  const agent = { ...input(30), ...output(12) };
  const own = (id: string, parent: string | null) =>
    span(id, parent, "chat", { "gen_ai.usage.reasoning_tokens": 4 });
  const cases: [spans: Span[], tokens: (number | null)[]][] = [
    [
      [span("agent", null, "invoke_agent", agent), span("call", "agent", "chat", reasoning(4))],
      [30, 12, 4],
    ],
    [
      [span("agent", null, "invoke_agent", { ...agent, ...reasoning(9) }), own("call", "agent")],
      [30, 12, 4],
    ],
    [
      [span("agent", null, "invoke_agent", reasoning(9)), span("call", "agent", "chat", agent)],
      [30, 12, 9],
    ],
    [[own("only", null)], [null, null, 4]],
  ];
  for (const [spans, tokens] of cases) assert.deepEqual(tokensIn(spans), tokens);
});
