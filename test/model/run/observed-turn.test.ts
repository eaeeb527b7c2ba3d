// The trace that Onlooker creates for a turn contains what it observed, and only as much history as fits.
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

test("a turn with a reply, even an empty one, is a span with its status, text and time", () => {
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

test("a failed turn is a failed span, without attributes for missing values", () => {
  const error = { code: "timeout", reason: "It did not answer." } as const;
  const failed = { ...reply, status: null, text: null, error };
  const { attributes, status } = observedTurn({ input: "Hello", history: [] }, failed, place).spans[0]!;
  assert.deepEqual(Object.keys(attributes), ["gen_ai.input.messages", "error.type"]);
  assert.deepEqual([attributes["error.type"], status], ["timeout", { code: 2, message: error.reason }]);
});

test("of the history, the latest messages that fit within 100,000 characters are kept", () => {
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
