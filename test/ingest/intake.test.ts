// What is left of a batch by the settings of its agent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { takerOf } from "../../src/ingest/intake.ts";
import { makeBatch, makeSpan } from "../model/make-trace.ts";

test("a denied attribute is not stored when a convention finds it in content", () => {
  const attributes = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "m",
    "llm.token_count.prompt": 3,
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "refund",
  };
  const left = (deny: string[]) => {
    const intake = { content: "none" as const, attributes: { deny, allow: null } };
    const take = takerOf({ conventions: ["*"], conventionRules: [], intake });
    const [span] = take(makeBatch([makeSpan("1", { attributes })]), "otlp").spans;
    return new Set(Object.keys(span!.attributes));
  };
  const kept = ["gen_ai.operation.name", "gen_ai.request.model"];
  assert.deepEqual(left([]), new Set([...kept, "gen_ai.output.messages", "gen_ai.usage.input_tokens"]));
  assert.deepEqual(left(["gen_ai.output.*", "gen_ai.usage.*"]), new Set(kept));
});
