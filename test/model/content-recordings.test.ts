// What recorded exports of agent frameworks keep where content is not stored.
import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutContent } from "../../src/model/content.ts";
import { readByConventions, recognizedIn } from "../../src/model/conventions/conventions.ts";
import { translateSpans } from "../../src/model/conventions/translate.ts";
import { toolNameOf } from "../../src/model/conversation/conversation.ts";
import { derive } from "../../src/model/trace/derive.ts";
import { mergeBatches } from "../../src/model/trace/merge.ts";
import type { MergedTrace } from "../../src/model/trace/trace.ts";
import { recordedTraces, recordings } from "./conventions/recordings.ts";
import { makeSpan, makeTrace } from "./make-trace.ts";

/** What structure alone tells. */
function read(trace: MergedTrace, conventions: string[]) {
  const reading = readByConventions(trace.spans, conventions);
  const spans = reading ? translateSpans(trace.spans, reading) : trace.spans;
  const { tokens, models, conversationId, userId, toolCalls } = derive(trace, undefined, reading);
  const steps = spans.filter(span => toolNameOf(span) === null).map(span => span.span_id);
  const calls = toolCalls.filter(({ spanId }) => !steps.includes(spanId)).map(({ name }) => name);
  return { steps, calls, tokens, models, conversationId, userId };
}

function structureOf(trace: MergedTrace, conventions: string[]): MergedTrace {
  const left = withoutContent(trace, trace.path, { conventions, conventionRules: [] }, "none");
  return mergeBatches([left], trace.path);
}

for (const [name] of recordings) {
  test(`${name}: steps, tools, tokens, models and ids are the same without content`, () => {
    for (const trace of recordedTraces(name)) {
      for (const conventions of [["*"], ...recognizedIn(trace.spans).map(one => [one])])
        assert.deepEqual(read(structureOf(trace, conventions), conventions), read(trace, conventions));
    }
  });
}

test("without content, tools count where the spans of several SDKs meet", () => {
  const trace = makeTrace(
    [
      makeSpan("1", { name: "wf", attributes: { "traceloop.span.kind": "workflow" } }),
      makeSpan("2", {
        parent_span_id: "1",
        name: "a.tool",
        attributes: { "traceloop.span.kind": "tool", "traceloop.entity.name": "a" },
      }),
      makeSpan("3", {
        parent_span_id: "1",
        name: "execute_tool b",
        attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "b" },
      }),
    ].map(span => ({ ...span, scope: { name: "traceloop.tracer" } })),
  );
  const left = structureOf(trace, ["openllmetry"]);
  assert.deepEqual(read(left, ["openllmetry"]).calls, ["a", "b"]);
  assert.deepEqual(
    left.spans.map(({ attributes }) => attributes["gen_ai.operation.name"]),
    ["invoke_agent", "execute_tool", "execute_tool"],
  );
});
