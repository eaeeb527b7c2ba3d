// What recorded exports of agent frameworks keep where content is not stored.

import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeBatches } from "../../../src/model/trace/merge.ts";
import type { MergedTrace } from "../../../src/model/trace/trace.ts";
import { withoutContent } from "../../../src/reading/content/structure.ts";
import { recognizedIn } from "../../../src/reading/conventions/conventions.ts";
import { readTraceBy } from "../../../src/reading/conventions/read-by.ts";
import { translateSpans } from "../../../src/reading/conventions/translate.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { toolNameOf } from "../../../src/reading/span/conversation.ts";
import { makeSpan, makeTrace } from "../../model/make-trace.ts";
import {
  recordedGroups,
  recordedLogs,
  recordedRecords,
  recordedTraces,
  recordings,
} from "../conventions/recordings.ts";

/** What structure alone tells. */
function read(trace: MergedTrace, conventions: string[]) {
  const { reading } = readTraceBy(trace, { conventions, conventionRules: [] });
  const spans = reading ? translateSpans(trace.spans, reading) : trace.spans;
  const { tokens, models, conversationId, userId, toolCalls } = derive(trace, undefined, reading);
  const steps = spans.filter(span => toolNameOf(span) === null).map(span => span.span_id);
  const calls = toolCalls.map(({ name }) => name);
  return { steps, calls, tokens, models, conversationId, userId };
}

function structureOf(trace: MergedTrace, conventions: string[]): MergedTrace {
  const left = withoutContent(trace, trace.path, { conventions, conventionRules: [] }, "none");
  return mergeBatches([left], trace.path);
}

/** The texts of its attributes and records are searched for what people and tools said. */
const said = /Paris|weather bot|rainy/;

/** Names of spans and agents are structure: CrewAI names a span by its task. */
const withoutNames = (key: string, value: unknown) =>
  ["name", "gen_ai.agent.name"].includes(key) ? undefined : value;

for (const [name] of recordings) {
  test(`${name}: steps, calls, tokens, models and ids are the same without content`, () => {
    for (const trace of recordedTraces(name)) {
      for (const conventions of [["*"], ...recognizedIn(trace.spans).map(one => [one])]) {
        const left = structureOf(trace, conventions);
        assert.deepEqual(read(left, conventions), read(trace, conventions));
        assert.doesNotMatch(JSON.stringify(left, withoutNames), said);
        assert.deepEqual(read(structureOf(left, conventions), conventions), read(left, conventions));
      }
    }
  });
}

test("without content, a call that only a message tells keeps its name and its ID, for any convention", () => {
  const call = "llm.output_messages.0.message.tool_calls.0.tool_call.";
  const trace = makeTrace([
    makeSpan("1", {
      attributes: {
        "openinference.span.kind": "LLM",
        "llm.output_messages.0.message.role": "assistant",
        [`${call}id`]: "call-1",
        [`${call}function.name`]: "refund",
        [`${call}function.arguments`]: '{"city": "Paris"}',
      },
    }),
  ]);
  const left = structureOf(trace, ["openinference"]);
  assert.deepEqual(left.spans[0]!.attributes, {
    "gen_ai.operation.name": "chat",
    "gen_ai.output.messages": [
      { role: "assistant", parts: [{ type: "tool_call", id: "call-1", name: "refund" }] },
    ],
  });
  assert.deepEqual(read(left, ["openinference"]).calls, ["refund"]);
  assert.deepEqual(structureOf(trace, []).spans[0]!.attributes, {});
});

for (const name of recordedLogs) {
  test(`${name}: log records that arrive without their spans keep the calls`, () => {
    for (const { traceId, batch } of recordedGroups(name, "protobuf")) {
      const batches = [batch, ...(recordedRecords(name, "protobuf").get(traceId ?? "") ?? [])];
      const readBy = { conventions: ["*"], conventionRules: [] };
      const left = mergeBatches(
        batches.map(one => withoutContent(one, "otlp", readBy, "none")),
        "otlp",
      );
      assert.deepEqual(read(left, ["*"]).calls, read(mergeBatches(batches, "otlp"), ["*"]).calls);
      assert.doesNotMatch(JSON.stringify(left), said);
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
