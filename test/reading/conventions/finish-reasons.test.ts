// Why models stopped, as the recorded exports tell it.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attributes, MergedTrace } from "../../../src/model/trace/trace.ts";
import { readTraceBy } from "../../../src/reading/conventions/read-by.ts";
import { translateSpans } from "../../../src/reading/conventions/translate.ts";
import { outlineSpan } from "../../../src/reading/derived/outline.ts";
import { finishReasonsIn } from "../../../src/reading/span/finish-reasons.ts";
import { errorOf } from "../../../src/reading/span/span-error.ts";
import { makeSpan, makeTrace } from "../../model/make-trace.ts";
import { recordedTraces, recordings } from "./recordings.ts";

function outlinesOf(stored: MergedTrace) {
  const { trace, reading } = readTraceBy(stored, { conventions: ["*"], conventionRules: [] });
  return (reading ? translateSpans(trace.spans, reading) : trace.spans).map(span => ({
    ...outlineSpan(span),
    error: errorOf(span),
    finishReasons: finishReasonsIn(span),
  }));
}

/** What the calls of models in a trace end with, in order; null: it is nowhere in the export. */
const told: [recording: RegExp, reasons: string[] | null][] = [
  [/httperror|langfuse|pydantic-ai-old|smolagents|autogen|langwatch-langchain|n8n/, null],
  [/arize-phoenix|llamaindex-own|pipecat|agents-langsmith|mlflow-agents|traceai/, null],
  [/logfire-openai|judgeval|litellm-proxy|azure|haystack|ag2/, ["tool_calls", "stop"]],
  [/livekit|agents-traceloop|contrib-js|traceloop-js|traceloop-llamaindex|crewai/, ["tool_call", "stop"]],
  [/traceloop-google/, ["stop", "stop"]],
  [/claude-agent/, ["tool_use", "end_turn"]],
  [/vercel-ai-6|mastra-1/, ["tool-calls", "stop"]],
  [/pydantic-ai-v5-toolerror/, ["tool_call"]],
  [/traceloop-(?:py|sdk)|pydantic/, ["tool_call", "stop"]],
  [/openai-agents|google-adk|genkit/, ["stop", "stop"]],
  [/mastra|voltagent/, ["stop"]],
  [/strands/, ["tool_use", "end_turn"]],
  [/semantic-kernel/, ["FinishReason.TOOL_CALLS", "FinishReason.STOP"]],
  [/spring-ai/, ["TOOL_CALLS", "STOP"]],
  [/./, ["tool_calls", "stop"]],
];

for (const [name, { failed }] of recordings) {
  test(`${name}: the finish reason of each call, and the error of what failed`, () => {
    const expected = told.find(([recording]) => recording.test(name))![1];
    const traces = recordedTraces(name).map(outlinesOf);
    const calls = traces.map(spans =>
      spans
        .filter(({ role }) => role === "model")
        .sort((a, b) => Number(a.startTimeUnixNano) - Number(b.startTimeUnixNano))
        .flatMap(({ finishReasons }) => finishReasons),
    );
    // LiteLLM makes a trace of each call.
    const expectedInAll = expected ?? [];
    if (/litellm|openlit/.test(name)) assert.deepEqual(calls.flat(), expectedInAll);
    else if (/livekit/.test(name)) assert.deepEqual(calls, [[...expectedInAll, ...expectedInAll]]);
    // OpenLLMetry makes a trace of its own where an agent is created.
    else
      for (const reasons of calls.length > 1 ? calls.filter(one => one.length > 0) : calls)
        assert.deepEqual(reasons, expectedInAll);
    const errors = traces.flat().filter(span => span.failed);
    for (const { error } of errors) assert.match(error!, /weather service is down|FAIL400/);
    if (failed) assert.notEqual(errors.length, 0);
  });
}

function reasonsOf(attributes: Attributes): string[] {
  return outlinesOf(makeTrace([makeSpan("a", { attributes })]))[0]!.finishReasons;
}

test("the documented attribute is read as a list, as JSON and as a text", () => {
  const key = "gen_ai.response.finish_reasons";
  assert.deepEqual(reasonsOf({ [key]: ["stop", "length"] }), ["stop", "length"]);
  assert.deepEqual(reasonsOf({ [key]: '["length"]' }), ["length"]);
  assert.deepEqual(reasonsOf({ [key]: "length" }), ["length"]);
});

test("what is no reason is none: blanks, numbers, objects and long texts", () => {
  const key = "gen_ai.response.finish_reasons";
  for (const sent of ["", " ", 7, { reason: "stop" }, [null, 3], "x".repeat(101)]) {
    assert.deepEqual(reasonsOf({ [key]: sent }), [], JSON.stringify(sent));
  }
});

test("a finish reason that a model quotes is not its own", () => {
  const kind = { "openinference.span.kind": "LLM" };
  const quoted = 'The server said {"finish_reason": "length"}.';
  assert.deepEqual(reasonsOf({ ...kind, "output.value": quoted }), []);
  const answer = { choices: [{ message: { role: "assistant", content: quoted }, finish_reason: "stop" }] };
  assert.deepEqual(reasonsOf({ ...kind, "output.value": JSON.stringify(answer) }), ["stop"]);
  const chain = { "openinference.span.kind": "CHAIN", "output.value": JSON.stringify(answer) };
  assert.deepEqual(reasonsOf(chain), []);
});
