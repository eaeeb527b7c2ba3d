// What Onlooker received in a manual run counts over what the trace says, and a call that failed fails the test.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { evaluateTest } from "../../src/evaluate/evaluate.ts";
import { noAnswers, openQuestions } from "../../src/evaluate/questions.ts";
import { agentErrorOf, differencesOf, withReceived } from "../../src/evaluate/received.ts";
import { joinTurns, placedInTurns } from "../../src/evaluate/turns.ts";
import type { AgentCallError } from "../../src/model/agent/call.ts";
import type { Received } from "../../src/model/run/received.ts";
import type { Span, Turn } from "../../src/model/trace/trace.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { assertRendered, root, testCase, tool, traceOf } from "./makers.ts";

function received(fields: Partial<Received> = {}): Received {
  return { turn: 1, input: "hello", status: 200, ms: 812, text: "Hello, Ada", error: null, ...fields };
}

function turnOf(...spans: Span[]): Turn {
  const trace = traceOf(...spans);
  return { trace, derived: derive(trace) };
}

const healthy = { "gen_ai.response.text": "All is well", "http.response.status_code": 200 };

function checksOf({ trace, derived }: Turn, ...assertions: object[]) {
  return evaluateTest(trace, derived, testCase({ assertions }), noAnswers()).checks;
}

suite("what was received", () => {
  test("counts where the trace says otherwise, and the evidence says so", () => {
    const times = { start_time_unix_nano: "1000000000", end_time_unix_nano: "1100000000" };
    const turn = withReceived(turnOf(root(healthy, times)), received({ status: 502, text: "Bad gateway" }));
    const checks = checksOf(
      turn,
      { type: "http_status", expected_status: 502 },
      { type: "response_regex", pattern: "gateway" },
      { type: "response_regex", pattern: "well", negate: true },
      { type: "response_time", max_ms: 811 },
    );
    assert.deepEqual(
      checks.map(({ outcome }) => outcome),
      ["passed", "passed", "passed", "failed"],
    );
    assert.deepEqual(
      checks.map(({ evidence }) => evidence.map(({ attribute, value }) => [attribute, value])),
      [
        [["svc.received.http_status", 502]],
        [["svc.received.reply", "Bad gateway"]],
        [["svc.received.reply", "Bad gateway"]],
        [["svc.received.time", 812]],
      ],
    );
    assert.equal(checks[3]?.reason, "The reply took 812 ms (limit: 811 ms).");
  });

  test("makes no verdict where it was redacted, whatever the trace says", () => {
    const reply = { text: "Write to ⟦email⟧", redactions: { email: 1 } };
    const said = { "gen_ai.response.text": "Write to ⟦email⟧" };
    for (const attributes of [{}, healthy, said]) {
      const one = withReceived(turnOf(root(attributes)), received(reply));
      for (const turn of [one, joinTurns([one]), joinTurns([one, one])]) {
        const checks = checksOf(
          turn,
          { type: "response_regex", pattern: "ada@" },
          { type: "response_regex", pattern: "@", negate: true },
          { type: "response_regex", pattern: "Write" },
        );
        assert.deepEqual(
          checks.map(({ outcome, skipped }) => skipped ?? outcome),
          ["redacted", "redacted", "passed"],
        );
      }
    }
  });

  test("is in the trace's own place where the trace says the same", () => {
    const turn = withReceived(turnOf(root(healthy)), received({ text: "All is well" }));
    const checks = checksOf(
      turn,
      { type: "http_status", expected_status: 200 },
      { type: "response_regex", pattern: "well" },
    );
    assert.deepEqual(
      checks.flatMap(({ evidence }) => evidence.map(({ attribute }) => attribute)),
      ["http.response.status_code", "gen_ai.response.text"],
    );
  });

  test("makes up for a trace without content, status and times, which adds steps, tool calls and tokens", () => {
    const turn = withReceived(turnOf(root({ "gen_ai.usage.input_tokens": 5 }), tool("search")), received());
    const checks = checksOf(
      turn,
      { type: "http_status", expected_status: "2xx" },
      { type: "response_regex", pattern: "Ada" },
      { type: "response_time", max_ms: 1_000 },
      { type: "tool_call", expected_name: "search" },
      { type: "token_limit", max_input: 5 },
    );
    assert.deepEqual(
      checks.map(({ outcome }) => outcome),
      Array(5).fill("passed"),
    );
    const [semantic] = openQuestions(
      turn.trace,
      turn.derived,
      [testCase({ assertions: [{ type: "semantic", criteria: "polite" }] })],
      noAnswers(),
    ).semantic;
    assert.deepEqual([semantic?.question.userInput, semantic?.question.response], ["hello", "Hello, Ada"]);
  });

  test("of several turns is joined: the last status and reply, the sum of the times, each turn for itself", () => {
    const turns = [
      withReceived(turnOf(root(healthy)), received({ text: "one", ms: 100 })),
      withReceived(turnOf(root(healthy)), received({ turn: 2, status: 201, text: "two", ms: 200 })),
    ];
    const { trace, derived } = joinTurns(turns);
    const fields = { turns: [{ input: "a" }, { input: "b" }], passiveBehavior: "manual_only" };
    const assertions = [
      { type: "http_status", expected_status: 201 },
      { type: "response_regex", pattern: "one", turn: 1 },
      { type: "response_time", max_ms: 299 },
      { type: "response_time", max_ms: 100, turn: 1 },
    ];
    const { checks } = placedInTurns(
      evaluateTest(trace, derived, testCase({ ...fields, assertions }), noAnswers()),
    );
    assert.deepEqual(
      checks.map(({ outcome }) => outcome),
      ["passed", "passed", "failed", "passed"],
    );
    assert.deepEqual(
      checks.map(({ evidence }) => evidence.map(({ turn, attribute }) => [turn, attribute])),
      [
        [[2, "svc.received.http_status"]],
        [[1, "svc.received.reply"]],
        [
          [1, "svc.received.time"],
          [2, "svc.received.time"],
        ],
        [[1, "svc.received.time"]],
      ],
    );
  });

  test("is nothing where the call failed: the trace's reply and status do not stand in", () => {
    const error: AgentCallError = { code: "broken_off", reason: "h broke the connection off." };
    const turn = withReceived(turnOf(root(healthy)), received({ status: null, text: null, error }));
    const checks = checksOf(
      turn,
      { type: "http_status", expected_status: 200 },
      { type: "http_status", expected_status: 200, negate: true },
      { type: "response_regex", pattern: "well" },
      { type: "response_regex", pattern: "refund", negate: true },
    );
    assert.deepEqual(
      checks.map(({ outcome }) => outcome),
      Array(4).fill("failed"),
    );
    assert.equal(checks[0]?.reason, "The agent sent no HTTP response.");
  });

  test("is no reply if it is blank, and the trace's does not stand in: nothing passes on it", () => {
    const checked = (text: string, error: AgentCallError | null = null) =>
      checksOf(
        withReceived(turnOf(root(healthy)), received({ text, error })),
        { type: "response_regex", pattern: "well" },
        { type: "response_regex", pattern: "refund", negate: true },
        { type: "semantic", criteria: "It offers no refund.", negate: true },
      );
    for (const text of ["", " \n"]) {
      for (const check of checked(text)) {
        assertRendered(check);
        assert.deepEqual([check.outcome, check.reasonCode], ["missing_instrumentation", "blank_reply"]);
      }
      const error: AgentCallError = { code: "http_status", reason: "The status is 500." };
      for (const check of checked(text, error)) assert.equal(check.outcome, "failed");
    }
  });

  test("is the status alone where the reply is in the trace, with the trace's own time", () => {
    const times = { start_time_unix_nano: "1000000000", end_time_unix_nano: "3000000000" };
    const replied = received({ status: 202, ms: 5, text: "All is well", replyFrom: "trace" });
    const checks = checksOf(
      withReceived(turnOf(root(healthy, times)), replied),
      { type: "http_status", expected_status: 202 },
      { type: "response_regex", pattern: "well" },
      { type: "response_time", max_ms: 1_000 },
    );
    assert.deepEqual(
      checks.map(({ outcome }) => outcome),
      ["passed", "passed", "failed"],
    );
  });
});

suite("differences", () => {
  const { derived } = turnOf(root(healthy));

  test("name the trace's status and reply where both tell one", () => {
    assert.deepEqual(differencesOf(derived, received({ status: 502 })), {
      statusInTrace: 200,
      replyInTrace: "All is well",
    });
    assert.deepEqual(differencesOf(derived, received({ text: " All is\nwell " })), {});
    assert.deepEqual(differencesOf(turnOf(root()).derived, received()), {});
  });

  test("name the trace's where nothing was received", () => {
    const error: AgentCallError = { code: "timeout", reason: "h did not answer within 60 s." };
    assert.deepEqual(Object.keys(differencesOf(derived, received({ status: null, text: null, error }))), [
      "statusInTrace",
      "replyInTrace",
    ]);
  });

  test("in the reply are none where it comes from the trace", () => {
    const replied = received({ status: 202, text: "All is well", replyFrom: "trace" });
    assert.deepEqual(differencesOf(derived, replied), { statusInTrace: 200 });
  });
});

suite("agent errors", () => {
  const failed = (code: AgentCallError["code"], fields: Partial<Received> = {}): Received =>
    received({ status: null, text: null, error: { code, reason: "It failed." }, ...fields });
  const expecting = (expected_status: unknown, fields: object = {}) =>
    testCase({ assertions: [{ type: "http_status", expected_status, ...fields }] });
  const any = expecting([100, 200, 500]);

  for (const code of [
    "timeout",
    "unreachable",
    "broken_off",
    "refused_target",
    "bad_reply",
    "no_reply",
  ] as const) {
    test(`${code} fails the test, whatever status it expects`, () => {
      for (const status of [null, 200, 500]) {
        assert.deepEqual(agentErrorOf(any, [failed(code, { status })]), {
          code: "agent_error",
          data: { error: code, message: "It failed." },
        });
      }
    });
  }

  test("a reply that is too large is one; a conversation that is, whose last reply arrived, is none", () => {
    assert.ok(agentErrorOf(any, [failed("too_large", { status: 200 })]));
    assert.ok(agentErrorOf(any, [failed("too_large")]));
    assert.equal(agentErrorOf(any, [failed("too_large", { status: 200, text: "Hello" })]), undefined);
  });

  const statuses: [expected: unknown, fields: object, excused: boolean][] = [
    [502, {}, true],
    [[200, 502], {}, true],
    ["5xx", {}, true],
    [502, { turn: 1 }, true],
    [502, { turn: "last" }, true],
    [500, {}, false],
    ["2xx", {}, false],
    [502, { negate: true }, false],
    [200, { negate: true }, false],
  ];
  for (const [expected, fields, excused] of statuses) {
    test(`a status of 502 is ${excused ? "what" : "not what"} ${JSON.stringify({ expected, ...fields })} asks for`, () => {
      const error = agentErrorOf(expecting(expected, fields), [
        failed("http_status", { status: 502, text: "Bad gateway" }),
      ]);
      assert.equal(error === undefined, excused);
    });
  }

  test("an expected status of another turn excuses nothing, and the reason names the turn", () => {
    const turns = { turns: [{ input: "a" }, { input: "b" }, { input: "c" }], passiveBehavior: "manual_only" };
    const asked = (turn: unknown) =>
      testCase({ ...turns, assertions: [{ type: "http_status", expected_status: 502, turn }] });
    const turnsTaken = [received(), failed("http_status", { turn: 2, status: 502 })];
    assert.deepEqual(agentErrorOf(asked(1), turnsTaken)?.data, {
      turn: 2,
      error: "http_status",
      message: "It failed.",
    });
    assert.ok(agentErrorOf(asked("last"), turnsTaken), "the last turn did not take place");
    assert.equal(agentErrorOf(asked(2), turnsTaken), undefined);
  });

  test("a turn that was answered is none", () => {
    assert.equal(agentErrorOf(any, [received()]), undefined);
  });
});
