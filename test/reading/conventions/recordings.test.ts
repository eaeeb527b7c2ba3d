// What the recorded exports of agent frameworks must give with nothing chosen.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readByConventions } from "../../../src/reading/conventions/conventions.ts";
import { transcribe } from "../../../src/reading/conversation/transcript.ts";
import { columnsOf } from "../../../src/reading/derived/columns.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { type Row, readRecording, rows, rowsOf } from "./recorded-rows.ts";
import { recordedGroups, recordedLogs, recordedTraces, recordings, refusedRecordings } from "./recordings.ts";

assert.equal(recordings.length, 85);
assert.equal(recordedLogs.length, 10);

/**
 * Rows that differ from what is expected, each with its reason; the list may only shrink. Anthropic counts cached tokens
 * beside the input. What the SDK itself sends as the input and as the total includes them, as for any other provider: 51.
 */
const known: Record<string, Row[]> = {
  "33-traceloop-py-anthropic-basic": ["tokens"],
  "130-claude-agent-sdk-cli-basic": ["tokens"],
};

const counts = new Map(rows.map(row => [row, { right: 0, said: 0 }]));
for (const [name, expected] of recordings) {
  test(`${name}: each row is right with nothing chosen, however it is encoded`, () => {
    const read = readRecording(name);
    const { wrong, said } = rowsOf(read, expected);
    for (const row of said) {
      const count = counts.get(row)!;
      count.said++;
      if (!wrong.has(row)) count.right++;
    }
    assert.deepEqual([...wrong.keys()], known[name] ?? [], JSON.stringify([...wrong]));
    assert.deepEqual(readRecording(name, "json"), read);
    // Each call once, by its model: what a trace costs adds up to its tokens.
    for (const { derived } of read) {
      const counted = derived.modelCalls.flatMap(call => call.tokens ?? []);
      for (const kind of ["input", "output"] as const) {
        const all = counted.reduce((sum, tokens) => sum + tokens[kind], 0);
        assert.equal(all, derived.tokens[kind] ?? 0, kind);
      }
    }
  });

  test(`${name}: no other convention is named once it is read`, () => {
    for (const { derived } of readRecording(name)) assert.equal(derived.otherConvention, null);
  });

  test(`${name}: lists show what the trace in detail does`, () => {
    for (const trace of recordedTraces(name, "protobuf")) {
      const [all, columns] = (["all", "columns"] as const).map(depth =>
        columnsOf(derive(trace, undefined, readByConventions(trace.spans, ["*"], undefined, depth)), []),
      );
      assert.deepEqual(columns, all);
    }
  });

  test(`${name}: the conversation has each question, reply and call once`, () => {
    for (const { derived, spans } of readRecording(name)) {
      const { entries } = transcribe(spans);
      const texts = (role: string) =>
        entries.flatMap(entry =>
          entry.kind === "message" && entry.role === role
            ? [entry.pieces.map(piece => (piece.kind === "text" ? piece.text : "")).join("")]
            : [],
        );
      const asked = texts("user").filter(text => text === derived.userInput?.text);
      assert.equal(asked.length, derived.userInput ? 1 : 0, `asked: ${JSON.stringify(texts("user"))}`);
      const said = texts("assistant").filter(text => text.trimEnd() === derived.responseText?.text);
      assert.equal(said.length, derived.responseText ? 1 : 0, `said: ${JSON.stringify(texts("assistant"))}`);
      const question = entries.findLastIndex(entry => entry.kind === "message" && entry.role === "user");
      const called = entries
        .slice(question + 1)
        .flatMap(entry => (entry.kind === "tool_call" ? [entry.name] : []));
      assert.deepEqual(
        called,
        derived.toolCalls.map(call => call.name),
      );
    }
  });
}

for (const [name, { refused }] of refusedRecordings) {
  test(`${name}: an export without a service name is refused, with a fix for the SDK that sent it`, () => {
    for (const encoding of ["json", "protobuf"] as const) {
      for (const { refusal } of recordedGroups(name, encoding)) {
        assert.equal(refusal?.code, refused);
        assert.match(refusal!.hint!, /maybeSetOtelProviders/);
      }
    }
  });
}

test("the table of rows", context => {
  for (const [row, { right, said }] of counts)
    if (said > 0) context.diagnostic(`${row}: ${right} of ${said}`);
});

test("79-litellm-otel-basic: LiteLLM is named, and not OpenLLMetry, whose attributes it writes", () => {
  const [called, answered] = recordedTraces("79-litellm-otel-basic").map(
    trace => derive(trace).otherConvention,
  );
  assert.deepEqual([called?.name, called?.found], ["LiteLLM", ["gen_ai.completion.*"]]);
  assert.match(called!.send, /switch on LiteLLM/);
  assert.equal(answered, null);
});

test("attributes that LiteLLM itself does not write name their convention also on its spans", () => {
  const [trace] = recordedTraces("79-litellm-otel-httperror");
  const spans = trace!.spans.map(span => ({
    ...span,
    attributes: { ...span.attributes, "llm.output_messages.0.message.content": "ho" },
  }));
  assert.equal(derive({ ...trace!, spans }).otherConvention?.name, "OpenInference");
});

const named: [recording: string, convention: string][] = [
  ["55-pydantic-ai-old-v1-basic", "Pydantic AI before 1.0"],
  ["73-strands-basic", "Strands Agents"],
  ["78-mlflow-openai-basic", "MLflow"],
  ["85-laminar-basic", "Laminar"],
  ["97-genkit-basic", "Genkit"],
];
for (const [name, convention] of named) {
  test(`${name}: ${convention} is named while no convention is read`, () => {
    for (const trace of recordedTraces(name)) {
      const { otherConvention, notices } = derive(trace);
      assert.equal(otherConvention?.name, convention);
      assert.ok(notices.includes("other_convention"));
    }
  });
}
