// Calls that messages show, and that are not among the tool calls of the trace: what they did is unknown, not absent.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { evaluateTest } from "../../src/evaluate/evaluate.ts";
import { noAnswers } from "../../src/evaluate/questions.ts";
import { joinTurns, placedInTurns } from "../../src/evaluate/turns.ts";
import type { Outcome } from "../../src/model/run/outcome.ts";
import type { Span } from "../../src/model/trace/trace.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { assertRendered, checkOf, root, span, testCase, tool, traceOf } from "./makers.ts";

const refund = { type: "tool_call", expected_name: "refund" };
const forbidden = { ...refund, negate: true };
const user = (content: string) => ({ role: "user", parts: [{ type: "text", content }] });
const said = (content: string) => ({ role: "assistant", parts: [{ type: "text", content }] });
const call = (args: unknown = { amount: 5 }, id?: string, name = "refund") => ({
  role: "assistant",
  parts: [{ type: "tool_call", name, arguments: args, ...(id && { id }) }],
});
const asked = (...messages: unknown[]): Span["attributes"] => ({ "gen_ai.input.messages": messages });
const answered = (...messages: unknown[]): Span["attributes"] => ({ "gen_ai.output.messages": messages });
const model = (attributes: Span["attributes"], events: unknown[] = []) =>
  span({ name: "chat", attributes, events });
const toolOf = (args: unknown, id: string, name = "refund") => {
  const made = tool(name, args);
  return { ...made, attributes: { ...made.attributes, "gen_ai.tool.call.id": id } };
};

const unread: [shape: string, spans: Span[]][] = [
  ["a call that a model answered with", [model(answered(call()))]],
  ["as JSON text", [model({ "gen_ai.output.messages": JSON.stringify([call()]) })]],
  [
    "in the history since the question",
    [model({ ...asked(user("Hi"), call()), ...answered(said("Done.")) })],
  ],
  [
    "beside the content",
    [
      model(
        answered({
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c", type: "function", function: { name: "refund", arguments: "{}" } }],
        }),
      ),
    ],
  ],
  [
    "in OpenAI's older shape",
    [
      model(
        answered({ role: "assistant", content: null, function_call: { name: "refund", arguments: '{"amo' } }),
      ),
    ],
  ],
  [
    "without a message around it",
    [model(answered({ type: "function", id: "c", function: { name: "refund", arguments: "{}" } }))],
  ],
  [
    "as an item of the Responses API",
    [model(answered({ type: "function_call", call_id: "c", name: "refund", arguments: "{}" }))],
  ],
  [
    "in Anthropic's shape",
    [
      model(
        answered({ role: "assistant", content: [{ type: "tool_use", id: "c", name: "refund", input: {} }] }),
      ),
    ],
  ],
  [
    "in Google's shape",
    [model(answered({ role: "model", parts: [{ functionCall: { name: "refund", args: {} } }] }))],
  ],
  [
    "as the parts of a stream",
    [
      model(
        answered({
          role: "assistant",
          tool_calls: [
            { index: 0, id: "c", function: { name: "refund", arguments: "" } },
            { index: 0, function: { arguments: '{"amount":5}' } },
          ],
        }),
      ),
    ],
  ],
  [
    "told by its result alone",
    [model({ ...asked(user("Hi"), { role: "tool", name: "refund", tool_call_id: "c", content: "ok" }) })],
  ],
  [
    "in an event",
    [
      model({}, [
        { name: "gen_ai.user.message", attributes: { content: "Hi" } },
        {
          name: "gen_ai.choice",
          attributes: {
            message: JSON.stringify({
              tool_calls: [{ id: "c", function: { name: "refund", arguments: "{}" } }],
            }),
          },
        },
      ]),
    ],
  ],
  [
    "in an event that has all messages",
    [
      model({}, [
        {
          name: "gen_ai.client.inference.operation.details",
          attributes: { ...asked(user("Hi")), ...answered(call()) },
        },
      ]),
    ],
  ],
  [
    "a second one, with other arguments",
    [
      model(answered(call({ amount: 5 }, "a"))),
      model(answered(call({ amount: 5000 }, "b"))),
      toolOf({ amount: 5 }, "a"),
    ],
  ],
];

const known: [what: string, spans: Span[], outcome: Outcome][] = [
  [
    "history that is sent again",
    [model({ ...asked(user("Hi"), call(), said("Done."), user("Thanks")), ...answered(said("Bye.")) })],
    "passed",
  ],
  ["a call of another tool", [model(answered(call({}, "c", "refund_status")))], "passed"],
  [
    "a tool that is only offered",
    [
      model(
        answered({
          ...said("Shall I?"),
          tools: [{ type: "function", function: { name: "refund", parameters: {} } }],
        }),
      ),
    ],
    "passed",
  ],
  [
    "a tool that is only spoken of",
    [model(answered(said('I called {"name":"refund","arguments":{}}')))],
    "passed",
  ],
  [
    "a call with a span, told again in every history",
    [
      model(answered(call({ amount: 5 }, "a"))),
      toolOf({ amount: 5 }, "a"),
      model({ ...asked(user("Hi"), call({ amount: 5 }, "a")), ...answered(said("Done.")) }),
      model({ ...asked(user("Hi"), call('{"amount":5}')), ...answered(said("Done.")) }),
    ],
    "failed",
  ],
  [
    "a call that input and output of a span tell without an ID",
    [
      model({ ...asked(user("Hi"), call()), ...answered(call(), said("Done.")) }),
      tool("refund", { amount: 5 }),
    ],
    "failed",
  ],
  [
    "a call whose span has neither its ID nor its arguments",
    [model(answered(call('{"amount": 5}', "a"))), tool("refund")],
    "failed",
  ],
  [
    "a call whose span is named otherwise",
    [model(answered(call({}, "a"))), toolOf({}, "a", "bank.refund")],
    "passed",
  ],
];

suite("calls in messages that spans lack", () => {
  for (const [shape, spans] of unread) {
    test(`are missing instrumentation where they decide, negated or not: ${shape}`, () => {
      const has = spans.some(({ attributes }) => "gen_ai.tool.name" in attributes);
      const limited = { ...refund, max: 1 };
      const assertions = has ? [limited] : [refund, forbidden, { ...refund, min: 0, max: 0 }];
      for (const assertion of assertions) {
        const check = checkOf(assertion, [root(), ...spans]);
        assert.equal(check.outcome, "missing_instrumentation", check.reason);
        assert.equal(check.reason, 'Messages show a call of "refund" that could not be read.');
        assertRendered(check);
      }
      if (has) assert.equal(checkOf(forbidden, [root(), ...spans]).outcome, "failed");
    });
  }

  for (const [what, spans, outcome] of known) {
    test(`are not ${what}`, () => {
      const check = checkOf(forbidden, [root(), ...spans]);
      assert.equal(check.outcome, outcome, check.reason);
      const turned = checkOf({ ...refund, max: 1 }, [root(), ...spans]);
      assert.equal(turned.outcome, outcome === "passed" ? "failed" : "passed", turned.reason);
    });
  }

  test("a root alone shows calls only by its messages", () => {
    const outcomeOf = (assertion: object, attributes: Span["attributes"]) =>
      checkOf({ ...assertion }, [root(attributes)]).outcome;
    for (const attributes of [{}, { "gen_ai.prompt": "Hi", "gen_ai.response.text": "Hello." }]) {
      for (const assertion of [refund, forbidden, { ...refund, min: 0, max: 0 }])
        assert.equal(outcomeOf(assertion, attributes), "missing_instrumentation");
    }
    assert.equal(outcomeOf(forbidden, answered(said("Hello."))), "passed");
    assert.equal(outcomeOf(refund, answered(said("Hello."))), "failed");
    const own = { "gen_ai.tool.name": "refund" };
    assert.deepEqual([outcomeOf(refund, own), outcomeOf(forbidden, own)], ["passed", "failed"]);
  });

  test("a turn that shows nothing makes the conversation unknown, and says which it was", () => {
    const turnOf = (...spans: Span[]) => {
      const trace = traceOf(...spans);
      return { trace, derived: derive(trace) };
    };
    const checksOf = (...turns: ReturnType<typeof turnOf>[]) => {
      const { trace, derived } = joinTurns(turns);
      const fields = { turns: turns.map(() => ({ input: "a" })), passiveBehavior: "manual_only" };
      const assertions = [
        forbidden,
        { ...forbidden, turn: 1 },
        { type: "node_call", expected_name: "plan", negate: true },
      ];
      const result = evaluateTest(trace, derived, testCase({ ...fields, assertions }), noAnswers());
      return placedInTurns(result).checks;
    };
    const clear = turnOf(root(), model(answered(said("Hello."))));
    const [whole, first, steps] = checksOf(clear, turnOf(root()));
    assert.equal(whole!.outcome, "missing_instrumentation");
    assert.match(whole!.reason, /^Turn 2 is a root span without messages/);
    assert.equal(first!.outcome, "passed");
    assert.match(steps!.reason, /^Turn 2 has no steps/);
    // The second turn is sent the first again.
    const again = turnOf(
      root(),
      model({ ...asked(user("Hi"), call(), user("Bye")), ...answered(said("Bye.")) }),
    );
    assert.equal(checksOf(clear, again)[0]!.outcome, "passed");
    assert.equal(
      checksOf(turnOf(root(), model(answered(call()))), again)[0]!.outcome,
      "missing_instrumentation",
    );
  });
});
