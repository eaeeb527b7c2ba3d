// What a launch may consist of: its tests, its runs, and the size of its inputs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseTests, inputBytesMax } from "../../../src/http/test-cases/launch-choice.ts";
import { Refusal } from "../../../src/model/refusal.ts";
import { parseTestCase } from "../../../src/model/test-case/test-case.ts";
import type { RunnableTest } from "../../../src/store/test-cases.ts";

const document = parseTestCase({
  name: "Greets",
  passiveBehavior: "always_run",
  turns: [{ input: "Hello" }],
  assertions: [{ type: "response_time", max_ms: 1 }],
});
const runnable = (id: string, fields: Partial<RunnableTest> = {}): RunnableTest => ({
  ...{ ...document, id, agentId: "agent", version: 1, inputCount: 0, inputBytes: 0 },
  ...fields,
});

function messageOf(tests: RunnableTest[], repeats?: number): string | undefined {
  try {
    chooseTests(tests, { repeats });
    return undefined;
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    return error.message;
  }
}

test("a launch has at most 10,000 runs, whether by tests, inputs or repeats", () => {
  const sets = (count: number, fields: Partial<RunnableTest>) =>
    Array.from({ length: count }, (_, at) => runnable(String(at), fields));
  assert.equal(messageOf(sets(10, { inputCount: 1_000 })), undefined);
  assert.match(messageOf(sets(11, { inputCount: 1_000 }))!, /11,000 runs/);
  assert.equal(messageOf(sets(500, { repeats: 20 })), undefined);
  assert.match(messageOf(sets(501, { repeats: 20 }))!, /10,020 runs/);
  assert.equal(
    messageOf(sets(1_000, { repeats: 20 }), 10),
    undefined,
    "the launch's repeats replace the tests'",
  );
  assert.match(messageOf(sets(1_000, {}), 11)!, /11,000 runs/);
  assert.match(
    messageOf(sets(1, { inputCount: 501 }), 2)!,
    /“Greets”: 501 inputs × 2 repeats are 1,002 runs/,
  );
});

test("the inputs of a launch have at most 100 MB", () => {
  const half = inputBytesMax / 2;
  const tests = [runnable("a", { inputBytes: half }), runnable("b", { inputBytes: half })];
  assert.equal(messageOf(tests), undefined);
  assert.match(
    messageOf([...tests, runnable("c", { inputBytes: 1 })])!,
    /more than 100 MB together: run fewer/,
  );
});
