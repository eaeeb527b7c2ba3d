// What the recorded exports of agent frameworks must give with all conventions on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readByConventions } from "../../../src/reading/conventions/conventions.ts";
import { translateSpans } from "../../../src/reading/conventions/translate.ts";
import { transcribe } from "../../../src/reading/conversation/transcript.ts";
import { columnsOf } from "../../../src/reading/derived/columns.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { identityOf } from "../../../src/reading/derived/identity.ts";
import { recordedLogs, recordedTraces, recordings } from "./recordings.ts";

type Encoding = Parameters<typeof recordedTraces>[1];

function readAll(name: string, encoding: Encoding) {
  return recordedTraces(name, encoding).map(trace => {
    const reading = readByConventions(trace.spans, ["*"]);
    const spans = reading ? translateSpans(trace.spans, reading) : trace.spans;
    return { derived: derive(trace, undefined, reading), identity: identityOf(trace.spans, reading), spans };
  });
}

const distinct = <T>(values: (T | null | undefined)[]) => [...new Set(values.filter(value => value != null))];

assert.equal(recordings.length, 52);
assert.equal(recordedLogs.length, 7);
for (const [name, expected] of recordings) {
  for (const encoding of ["json", "protobuf"] as const) {
    test(`${name}, ${encoding}: input, reply, tool calls, tokens, model and ids`, () => {
      const read = readAll(name, encoding);
      const derived = read.map(one => one.derived);
      const identities = read.map(one => one.identity);
      assert.equal(read.length, expected.traces);

      const inputs = distinct(derived.map(one => one.userInput?.text));
      assert.deepEqual(inputs, expected["user input"] ?? [], "user input");
      const replies = derived.flatMap(one => one.responseText?.text.trimEnd() ?? []);
      assert.deepEqual(replies, expected.reply ?? [], "reply");
      const judged = derived.flatMap(one => one.judgedText?.text.trimEnd() ?? []);
      assert.deepEqual(judged, replies);

      // Pydantic AI's own tool for structured replies.
      const calls = derived.flatMap(one => one.toolCalls).filter(call => call.name !== "final_answer");
      if (expected.calls !== null) assert.equal(calls.length, expected.calls, "calls");
      const wanted = expected["tool call"];
      if (wanted) {
        assert.equal(calls[0]?.name, wanted.name, "tool");
        if (wanted.args !== null) assert.deepEqual(calls[0]?.arguments, wanted.args, "arguments");
      }
      if (expected["tool result"] !== null) {
        const result = calls[0]?.result ?? null;
        const text = typeof result === "object" && result !== null ? Object.values(result)[0] : result;
        assert.equal(text, expected["tool result"], "result");
      }

      const sum = (kind: "input" | "output") => {
        const counts = derived.flatMap(one => one.tokens[kind] ?? []);
        return counts.length === 0 ? null : counts.reduce((a, b) => a + b, 0);
      };
      // Each call once, by its model: what a trace costs adds up to its tokens.
      const counted = derived.flatMap(one => one.modelCalls).flatMap(call => call.tokens ?? []);
      for (const kind of ["input", "output"] as const) {
        assert.equal(
          counted.reduce((all, tokens) => all + tokens[kind], 0),
          sum(kind) ?? 0,
          kind,
        );
      }
      const tokens = sum("input") === null && sum("output") === null ? null : [sum("input"), sum("output")];
      assert.deepEqual(tokens, expected["tokens in/out, each call counted once"], "tokens");

      const { conversation, user } = expected;
      const ids = distinct(identities.map(one => one.conversationId));
      assert.deepEqual(ids, conversation === null ? [] : [conversation], "conversation");
      const users = distinct(identities.map(one => one.userId));
      assert.deepEqual(users, user === null ? [] : [user], "user");
      const models = distinct(identities.map(one => one.model));
      if (expected["model, any of"]) {
        assert.ok(models.length > 0);
        assert.deepEqual(
          models.filter(model => !expected["model, any of"]!.includes(model)),
          [],
        );
      }
      if (expected.failed) assert.ok(derived.some(one => one.failed));
    });
  }

  test(`${name}: no other convention is named once it is read`, () => {
    for (const { derived } of readAll(name, "protobuf")) assert.equal(derived.otherConvention, null);
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
    for (const { derived, spans } of readAll(name, "protobuf")) {
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

test("79-litellm-otel-basic: LiteLLM is named, and not OpenLLMetry, whose attributes it writes", () => {
  const [called, answered] = recordedTraces("79-litellm-otel-basic").map(
    trace => derive(trace).otherConvention,
  );
  assert.deepEqual([called?.name, called?.found], ["LiteLLM", ["gen_ai.completion.*"]]);
  assert.match(called!.send, /switch on LiteLLM/);
  assert.equal(answered, null);
});

test("attributes that LiteLLM does not write by itself name their convention also on its spans", () => {
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
