// The trace that is made of a turn says what was seen of it, and no more of the conversation than fits.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentReply } from "../../../src/model/agent/call.ts";
import { observedTurn } from "../../../src/model/run/observed-turn.ts";

const reply: AgentReply = {
  status: 200,
  text: "",
  startedAt: new Date(1_700_000_000_000),
  contentType: null,
  error: null,
  ms: 250,
};
const place = { runId: "run-1", turn: 2, spanId: "00f067aa0ba902b7" };

test("a turn that was answered, if by nothing, is a span of its status, its text and its time", () => {
  const { metadata, spans } = observedTurn({ input: "Hello", history: [] }, reply, place);
  assert.deepEqual(metadata, { "svc.run.observed": true, "svc.run.id": "run-1", "svc.run.turn": 2 });
  const [{ attributes, status, start_time_unix_nano, end_time_unix_nano }] = spans as [(typeof spans)[0]];
  assert.deepEqual(attributes, {
    "gen_ai.input.messages": [{ role: "user", parts: [{ type: "text", content: "Hello" }] }],
    "gen_ai.response.text": "",
    "http.response.status_code": 200,
  });
  assert.deepEqual(
    [status, start_time_unix_nano, end_time_unix_nano],
    [{ code: 1 }, "1700000000000000000", "1700000000250000000"],
  );
});

test("a turn that failed is a failed span, without what there was not", () => {
  const error = { code: "timeout", reason: "It did not answer." } as const;
  const failed = { ...reply, status: null, text: null, error };
  const { attributes, status } = observedTurn({ input: "Hello", history: [] }, failed, place).spans[0]!;
  assert.deepEqual(Object.keys(attributes), ["gen_ai.input.messages", "error.type"]);
  assert.deepEqual([attributes["error.type"], status], ["timeout", { code: 2, message: error.reason }]);
});

test("of what was said before, the latest that fits within 100,000 characters is kept", () => {
  const said = (content: string) => ({ role: "assistant" as const, content });
  const kept = (...history: ReturnType<typeof said>[]) => {
    const { attributes } = observedTurn({ input: "Now", history }, reply, place).spans[0]!;
    const messages = attributes["gen_ai.input.messages"] as { parts: [{ content: string }] }[];
    return messages.map(({ parts }) => parts[0].content.slice(0, 3));
  };
  const [one, two] = [said("one".padEnd(50_000)), said("two".padEnd(50_000))];
  assert.deepEqual(kept(one, two), ["one", "two", "Now"]);
  assert.deepEqual(kept(said("old"), one, two), ["one", "two", "Now"]);
  assert.deepEqual(kept(one, said("long".padEnd(100_001))), ["Now"]);
});
