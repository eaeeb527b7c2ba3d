// Which conventions a trace is offered to be read by.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Span } from "../../../src/model/trace/trace.ts";
import { readByConventions } from "../../../src/reading/conventions/conventions.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { reportOf } from "../../../src/reading/derived/report.ts";
import { makeSpan, makeTrace } from "../../model/make-trace.ts";

function readableOf(spans: Span[], conventions: string[] = []): string[] {
  const trace = makeTrace(spans);
  const reading = readByConventions(spans, conventions);
  return reportOf({
    trace,
    read: trace,
    reading,
    conventions,
    conventionRules: [],
    derived: derive(trace, undefined, reading),
  }).readable;
}

const openInference = { "openinference.span.kind": "LLM", "input.value": "Hi", "output.value": "Hello." };
const documented = {
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "gpt-4o",
  "gen_ai.input.messages": [{ role: "user", content: "Hi" }],
  "gen_ai.output.messages": [
    {
      role: "assistant",
      content: "Hello.",
      tool_calls: [{ id: "1", function: { name: "greet", arguments: "{}" } }],
    },
  ],
  "gen_ai.usage.input_tokens": 1,
};

test("a convention is offered if it gives an input, a reply or tokens, and is off", () => {
  const spans = [makeSpan("a", { attributes: openInference })];
  assert.deepEqual(readableOf(spans), ["openinference"]);
  assert.deepEqual(readableOf(spans, ["mlflow"]), ["openinference"]);
  assert.deepEqual(readableOf(spans, ["openinference"]), []);
  assert.deepEqual(readableOf(spans, ["*"]), []);
});

test("one is offered for tool calls alone, and none for a trace that no convention says more about", () => {
  assert.deepEqual(readableOf([makeSpan("a", { attributes: documented })]), ["opentelemetry"]);
  const { "gen_ai.output.messages": _, ...rest } = documented;
  const answered = { ...rest, "gen_ai.output.messages": [{ role: "assistant", content: "Hello." }] };
  assert.deepEqual(readableOf([makeSpan("a", { attributes: answered })]), []);
  assert.deepEqual(readableOf([makeSpan("a", { attributes: { "openinference.span.kind": "LLM" } })]), []);
  assert.deepEqual(readableOf([makeSpan("a")]), []);
});
