// Reasons: every code has a sentence that can be read on its own.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Refusal } from "../../../src/model/refusal.ts";
import { negatedSentences } from "../../../src/model/run/negated-reason-text.ts";
import {
  type Comparison,
  negated,
  type Reason,
  type ReasonCode,
  type ReasonData,
  runErrorReason,
} from "../../../src/model/run/reason.ts";
import { reasonFields, reasonText } from "../../../src/model/run/reason-text.ts";

const counts = { passed: 3, failed: 1, skipped: 2, missing_instrumentation: 1 };

/** By code: data and the sentence; codes without data have only their sentence. */
const examples: { [C in ReasonCode]: ReasonData[C] extends null ? string : [ReasonData[C], string][] } = {
  tool_call_count: [
    [{ name: "refund", count: 1, min: 1 }, '1 call of "refund" (expected: at least 1).'],
    [{ name: "a", count: 2, min: 0, max: 1 }, '2 calls of "a" (expected: at most 1).'],
    [
      { name: "a", count: 0, min: 2, max: 2, withArguments: true, instead: "other_arguments" },
      'No calls of "a" with the expected arguments (expected: exactly 2); the arguments differ.',
    ],
    [
      { name: "a", count: 0, min: 1, max: 3, instead: { called: { names: ["b", "c"], more: 4 } } },
      'No calls of "a" (expected: 1 to 3); called instead: "b", "c" and 4 more.',
    ],
    [
      { name: "a_b", count: 0, min: 1, instead: { similar: { names: ["aB"] } } },
      'No calls of "a_b" (expected: at least 1); names must match exactly, and "aB" does not.',
    ],
    [
      { name: "a", count: 0, min: 1, instead: "no_calls" },
      'No calls of "a" (expected: at least 1); the trace has no tool calls.',
    ],
  ],
  judge_withheld: [
    [
      { comment: "The price is not shown." },
      "The judge could not decide: the project does not let it see what tools returned. The price is not shown.",
    ],
  ],
  redacted: [
    [
      { rules: ["email"] },
      'The privacy rule "email" redacted a part of what this check looks at, which could have changed its outcome.',
    ],
    [
      { rules: ["email", "card"] },
      'The privacy rules "email", "card" redacted a part of what this check looks at, which could have changed its outcome.',
    ],
  ],
  step_count: [
    [{ name: "plan", count: 1, min: 1 }, '1 step has "plan" in the name (expected: at least 1).'],
    [
      { name: "plan", count: 0, min: 1, steps: { names: ["a"] } },
      'No steps have "plan" in the name (expected: at least 1); the steps are "a".',
    ],
  ],
  token_usage: [
    [
      {
        usages: [
          { kind: "total", used: 15, max: 9 },
          { kind: "input", used: 10, max: 5 },
        ],
      },
      "The trace used 15 total tokens (limit: 9), 10 input tokens (limit: 5).",
    ],
  ],
  http_status: [
    [{ status: 200, expected: "2xx" }, "The HTTP status is 200 (expected: 2xx)."],
    [{ status: 500, expected: [200, 201] }, "The HTTP status is 500 (expected: one of 200, 201)."],
  ],
  duration: [
    [{ ms: 12.5, maxMs: 20 }, "The trace took 12.5 ms (limit: 20 ms)."],
    [{ ms: 12, maxMs: 20, received: true }, "The reply took 12 ms (limit: 20 ms)."],
  ],
  pattern_found: [[{ pattern: "a+" }, '"a+" was found in the reply.']],
  pattern_not_found: [[{ pattern: "a+", target: "llm" }, '"a+" was not found in a text of "llm".']],
  value_matches: [[{ field: "f", span: "s" }, '"f" of "s" is the expected value.']],
  value_differs: [
    [{ field: "f", span: "s", others: 0 }, '"f" of "s" is not the expected value.'],
    [
      { field: "f", span: "s", others: 2 },
      '"f" of "s" is not the expected value, nor is it in 2 more spans.',
    ],
  ],
  schema_valid: [[{ field: "f", target: "s" }, '"f" of the span named like "s" is valid.']],
  schema_invalid: [
    [
      { field: "f", target: "s", fault: "a: Too small." },
      '"f" of the span named like "s" is invalid: a: Too small.',
    ],
  ],
  reply_without_words: [
    [{}, "The reply contains no words."],
    [{ target: "x" }, 'A text of "x" contains no words.'],
  ],
  judge_score: [
    [
      { score: 0.4, threshold: 0.7, comment: "No date is given." },
      "The judge's score is 0.4 (threshold: 0.7): No date is given.",
    ],
    [
      { score: 0.75, threshold: 0.7, votes: { passed: 2, of: 3 }, criteria: { met: 1, of: 2 } },
      "The judge's score is 0.75 (threshold: 0.7; 2 of 3 votes reach it): 1 of 2 criteria are fully met.",
    ],
    [
      { score: 0.75, threshold: 0.7, criteria: { met: 1, of: 4, inapplicable: 2, undecided: 1 } },
      "The judge's score is 0.75 (threshold: 0.7): 1 of 4 criteria are fully met, 2 do not apply, 1 is undecided.",
    ],
  ],
  no_http_status: "The trace has no HTTP status: http.response.status_code is missing.",
  unusable_http_status:
    "The trace has no usable HTTP status: http.response.status_code is not a whole number from 100 to 999.",
  no_token_usage: [
    [{ attributes: ["a"] }, "The trace has no token usage: a is missing."],
    [{ attributes: ["a", "b"] }, "The trace has no token usage: a and b are missing."],
    [
      { attributes: ["gen_ai.usage.output_tokens", "gen_ai.usage.reasoning.output_tokens"] },
      "The trace has no count of output and reasoning tokens: gen_ai.usage.output_tokens and gen_ai.usage.reasoning.output_tokens are missing.",
    ],
    [
      { attributes: [], unusable: ["a", "b"] },
      "The trace has no usable token usage: a and b are not whole numbers up to 2^53−1.",
    ],
    [
      { attributes: ["a"], unusable: ["b"], turn: 2 },
      "Turn 2 has no usable token usage: a is missing, and b is not a whole number up to 2^53−1.",
    ],
  ],
  no_response: "The agent sent no HTTP response.",
  no_duration: "The trace has no duration: its spans have no usable start and end time.",
  no_reply:
    "The trace has no reply text: gen_ai.response.text and gen_ai.output.messages are missing or blank.",
  blank_reply: "The agent's reply is blank.",
  failed_without_reply: "The agent failed without a reply.",
  unmeasured_calls: [
    [
      { spans: { names: ["chat"] }, calls: 1 },
      '1 model call has no usable token usage, so the sum is unknown: "chat".',
    ],
    [
      { spans: { names: ["chat", "plan"] }, calls: 3 },
      '3 model calls have no usable token usage, so the sum is unknown: "chat", "plan".',
    ],
  ],
  not_json: [
    [
      { target: "llm", field: "f", values: 1 },
      '"f" of a span named like "llm" is not JSON, so it cannot be compared.',
    ],
  ],
  unread_calls: [
    [{ name: "refund", calls: 1 }, 'Messages show a call of "refund" that could not be read.'],
    [{ name: "refund", calls: 2 }, 'Messages show 2 calls of "refund" that could not be read.'],
  ],
  no_messages: [
    [
      { name: "refund" },
      'The trace is a root span without messages, so whether "refund" was called is unknown.',
    ],
    [
      { name: "refund", turn: 2 },
      'Turn 2 is a root span without messages, so whether "refund" was called is unknown.',
    ],
  ],
  no_text_in_spans: [
    [
      { target: "llm", without: 2 },
      '2 spans named like "llm" have no text: gen_ai.response.text and gen_ai.output.messages are missing or blank.',
    ],
    [
      { target: "llm" },
      'No span named like "llm" has a text: gen_ai.response.text and gen_ai.output.messages are missing or blank.',
    ],
  ],
  no_attribute: [[{ target: "llm", field: "f" }, 'No span named like "llm" has the attribute "f".']],
  no_span: [
    [{ target: "x", spans: { names: ["a", "b"] } }, 'No span is named like "x"; the spans are "a", "b".'],
  ],
  no_steps: [[{ name: "x" }, 'The trace has no steps besides its root, so whether "x" ran is unknown.']],
  no_call_arguments: [
    [
      { name: "x", calls: 1 },
      'The trace has no arguments for a call of "x": gen_ai.tool.call.arguments is missing or null.',
    ],
    [
      { name: "x", calls: 2 },
      'The trace has no arguments for 2 calls of "x": gen_ai.tool.call.arguments is missing or null.',
    ],
  ],
  turn_not_reached: [[{ turn: 3, turns: 2 }, "Turn 3 did not take place: the run ended in turn 2."]],
  turn_not_in_trace: [[{ turn: 2 }, "This trace is a single turn; turn 2 is not in it."]],
  content_not_stored: "The content of the trace was not stored, or has been forgotten.",
  no_agent_trace: "The agent sent no trace, so this cannot be checked.",
  dependency_not_passed: [[{ id: "a1" }, 'Depends on "a1", which did not pass.']],
  dependency_waiting: [[{ id: "a1" }, 'Depends on "a1", which is waiting for the judge.']],
  no_answer: "No answer arrived.",
  invalid_threshold: "The threshold is not a number from 0 to 1.",
  too_many_values: [[{ values: 30, max: 20 }, "Only the latest 20 of 30 values were checked."]],
  text_too_long: [[{ max: 9 }, "The text is longer than 9 characters, the most that is checked."]],
  arguments_too_large: "The arguments are too large to compare.",
  run_budget_spent:
    "The tests of this evaluation compare too much. Use fewer assertions that search all spans or long lists.",
  sandbox_run_budget: [
    [
      { ms: 5000 },
      "The checks of this evaluation used up their 5 s for schemas and long texts. Simplify the schemas and patterns.",
    ],
  ],
  sandbox_agent_budget: [
    [
      { ms: 10000 },
      "The agent's slow checks used up their 10 s per minute. Simplify the schemas and patterns that time out.",
    ],
  ],
  sandbox_timeout: [[{ ms: 250 }, "This check took longer than its limit of 250 ms."]],
  sandbox_out_of_memory: "This check used more memory than its limit.",
  sandbox_failed: [[{ message: "Stack overflow." }, "This could not be checked: Stack overflow."]],
  sandbox_cancelled: "The check was cancelled.",
  no_judge:
    "No judge is configured. Set one up in the project settings, or set SVC_JUDGE_MODEL for the service.",
  judge_key_unreadable: "The judge is paused: its stored API key cannot be decrypted. Enter the key again.",
  judge_paused: [
    [
      { why: "The judge rejected the API key (401)." },
      "The judge is paused. The judge rejected the API key (401). Edit or test its connection to resume.",
    ],
  ],
  judge_database_unavailable: "The judge was not called: the service's database is unavailable.",
  judge_busy: "The judge is busy with other traces.",
  judge_busy_until_deadline: "The judge was busy with other traces until the deadline.",
  judge_connection_changed: "The connection of the judge changed. The judge is asked again soon.",
  judge_rate_limited: [[{ tries: 1 }, "The judge's tokens-per-minute limit is reached."]],
  judge_suspended: [
    [
      { because: { code: "judge_timeout", data: {} } },
      "Calls to the judge are suspended for a while. The judge did not answer in time.",
    ],
  ],
  judge_not_asked: "The judge was not asked: the cost was not confirmed.",
  judge_not_sampled: [[{ percent: 12.5 }, "Not sampled: 12.5% of this agent's traces are judged."]],
  judge_budget_spent: [
    [{ usd: 1.5 }, "The agent's daily judge budget of $1.50 is used up. It resets at 00:00 UTC."],
    [{ tokens: 1000 }, "The agent's daily judge budget of 1,000 tokens is used up. It resets at 00:00 UTC."],
  ],
  judge_account_budget_spent: [
    [
      { tokens: 2_000_000 },
      "Your account's daily budget of 2,000,000 tokens for this service's judge is used up. It resets at 00:00 UTC. Or connect a judge of your own.",
    ],
  ],
  judge_cancelled: "The call to the judge was cancelled.",
  judge_waiting: "The judge has not answered yet.",
  does_not_apply: [[{ comment: "Nobody asked." }, "The check does not apply: Nobody asked."]],
  judge_not_conditional:
    "The judge says that the criterion does not apply, but the criterion states no condition.",
  no_scenario: "The test has no scenario to match.",
  judge_url_blocked: [[{ why: "10.0.0.1 is private." }, "The judge's URL is blocked: 10.0.0.1 is private."]],
  judge_connection_invalid: "The judge could not be called: its URL or API key may be malformed.",
  judge_unreachable: [
    [
      { why: "the host name was not found", tries: 3 },
      "The judge could not be reached: the host name was not found (3 tries).",
    ],
  ],
  judge_broken_off: [[{ why: "closed the connection" }, "The judge's server closed the connection."]],
  judge_timeout: [[{}, "The judge did not answer in time."]],
  judge_cut_off: [[{}, "The judge's answer broke off."]],
  judge_http_error: [
    [{ status: 503, tries: 2 }, "The judge answered with status 503 (2 tries)."],
    [{ status: 429, waitMs: 45_000 }, "The judge answered with status 429 (not called again for 45 s)."],
    [{ status: 429, waitMs: 3_600_000 }, "The judge answered with status 429 (not called again for 60 min)."],
  ],
  judge_quota_exceeded: [
    [{}, "The quota at the judge's provider is used up."],
    [{ tries: 4 }, "The quota at the judge's provider is used up (4 tries)."],
  ],
  judge_gateway_budget_exceeded: [[{}, "The budget at the judge's gateway is used up."]],
  judge_upstream_rejected: [
    [
      { status: 401 },
      "The provider behind the judge's gateway rejected the gateway's own key (401). Fix that key in the gateway.",
    ],
  ],
  judge_header_missing: [
    [
      { status: 400 },
      "The judge's gateway requires a header that is missing, such as the provider's name (400). Add the header to the connection.",
    ],
  ],
  judge_model_unknown: [[{ status: 404 }, "The judge's server does not know this model (404)."]],
  judge_model_denied: [[{ status: 403 }, "The judge's API key has no access to this model (403)."]],
  judge_url_unknown: [[{ status: 404 }, "The judge's server does not know this URL (404)."]],
  judge_system_role_rejected: [
    [{ status: 400 }, "The judge's model rejected the roles of the messages (400)."],
  ],
  judge_context_exceeded: [
    [
      { status: 400 },
      "The prompt is longer than the judge's context (400). Use a larger context or another model.",
    ],
  ],
  judge_key_rejected: [[{ status: 401 }, "The judge rejected the API key (401)."]],
  judge_not_found: [[{ status: 404 }, "The judge does not know this URL or model (404)."]],
  judge_redirected: [[{ status: 302 }, "The judge redirects elsewhere, which is not followed (302)."]],
  judge_tls_required: [
    [{ status: 400 }, "The judge's server expects TLS: its URL must begin with https:// (400)."],
  ],
  judge_request_rejected: [[{ status: 400 }, "The judge rejected the request (400)."]],
  judge_input_rejected: [[{ status: 403 }, "The judge rejected this input (403)."]],
  judge_silent: [[{ seconds: 60 }, "The judge did not answer within 60 s."]],
  judge_answer_too_large: "The judge's answer is larger than 1 MB.",
  judge_answer_truncated: "The judge's answer was cut short.",
  judge_answer_filtered: "The judge refused to answer, or a content filter withheld the answer.",
  judge_answer_failed: "The judge failed while it wrote the answer.",
  judge_not_a_model: "The judge's server did not answer like a language model's server.",
  judge_answer_malformed: "The judge did not answer with the requested JSON.",
  judge_integrity_failed: [
    [
      { wrong: "never" },
      "The judge failed the integrity check: it gave the wrong answer to a question whose answer is no.",
    ],
    [
      { wrong: "always" },
      "The judge failed the integrity check: it gave the wrong answer to a question whose answer is yes.",
    ],
    [
      { wrong: "class" },
      "The judge failed the integrity check: it gave the wrong answer to a question whose answer is known.",
    ],
  ],
  judge_context_too_small:
    "The judge's context is too small: its server cut the beginning of the prompt. Raise the context length.",
  judge_echo_wrong: "The judge did not repeat the words that show that it read the whole prompt.",
  judge_question_skipped: "The judge left this question out of its answer twice.",
  judge_undecided: [
    [{ comment: "The reply is cut." }, "The judge could not decide: The reply is cut."],
    [
      { comment: "It is unclear.", criteria: ["Is polite.", "Is short."] },
      'The judge could not decide "Is polite.", "Is short.": It is unclear.',
    ],
  ],
  judge_votes_split: [
    [
      { passed: 1, failed: 1, undecided: 1 },
      "The judge could not decide: of 3 votes, 1 reached the threshold, 1 did not, and 1 was undecided.",
    ],
    [
      { passed: 1, failed: 0, undecided: 2 },
      "The judge could not decide: of 3 votes, 1 reached the threshold, 0 did not, and 2 were undecided.",
    ],
  ],
  judge_quote_missing: "The judge quoted no passage of the reply.",
  judge_quote_trivial: "The passage that the judge quoted has no word that says anything.",
  reply_too_long: [
    [
      { shown: 185_000, of: 200_000 },
      "The reply is too long to judge: 200000 characters, of which the judge can be shown 185000.",
    ],
  ],
  judge_quote_not_found: "The passage that the judge quoted is not in the agent's own words or tool calls.",
  judge_comparison_not_found:
    "The passage that the judge compared the reply with is not in what it was shown.",
  agent_error: [
    [
      { error: "timeout", message: "h did not answer within 60 s." },
      "Agent error: h did not answer within 60 s.",
    ],
    [
      { turn: 2, error: "bad_reply", message: "The reply is empty." },
      "Agent error in turn 2: The reply is empty.",
    ],
  ],
  checks_counted: [
    [{ outcome: "failed", counts }, "Failed, 4 of 7 checked, 1 failed, 2 skipped, 1 missing instrumentation"],
  ],
  checks_waiting: [[{ checked: 1, of: 3 }, "Waiting for the judge, 1 of 3 checked"]],
  scenario_no_match: [
    [{ comment: "It is about shoes." }, "Skipped, the scenario does not match: It is about shoes."],
    [{ comment: "" }, "Skipped, the scenario does not match"],
  ],
  worker_died: [[{ attempts: 3 }, "The worker crashed 3 times while evaluating this run."]],
  worker_died_before_sending: [[{ attempts: 3 }, "The worker crashed 3 times before anything was sent."]],
  worker_stopped: "The worker stopped during this run. Run it again.",
  internal_error: "Internal error while evaluating this run; see the service log.",
  rejected: [
    [{ code: "NOT_FOUND", message: "No connection.", hint: "Add one." }, "No connection. Add one."],
    [{ code: "NOT_FOUND", message: "No connection." }, "No connection."],
  ],
};

const toolCall = { name: "a", count: 1, min: 1 };
const found = { field: "f", span: "s" };
const target = { field: "f", target: "t" };

/** A negated check passes if the comparison does not hold. */
const negatedExamples: [Comparison, string][] = [
  [{ code: "tool_call_count", data: toolCall }, '1 call of "a" (expected: none).'],
  [
    { code: "tool_call_count", data: { ...toolCall, withArguments: true } },
    '1 call of "a" with matching arguments (expected: none).',
  ],
  [
    {
      code: "tool_call_count",
      data: { ...toolCall, count: 0, withArguments: true, instead: "other_arguments" },
    },
    'No calls of "a" with matching arguments (expected: none); the arguments differ.',
  ],
  [{ code: "tool_call_count", data: { ...toolCall, min: 3 } }, '1 call of "a" (expected: fewer than 3).'],
  [{ code: "tool_call_count", data: { ...toolCall, max: 1 } }, '1 call of "a" (expected: any number but 1).'],
  [
    { code: "tool_call_count", data: { ...toolCall, min: 0, max: 0 } },
    '1 call of "a" (expected: at least 1).',
  ],
  [
    { code: "step_count", data: { ...toolCall, min: 0, max: 3 } },
    '1 step has "a" in the name (expected: more than 3).',
  ],
  [
    { code: "step_count", data: { ...toolCall, min: 1, max: 3 } },
    '1 step has "a" in the name (expected: fewer than 1 or more than 3).',
  ],
  [
    { code: "step_count", data: { ...toolCall, count: 0, steps: { names: ["b"] } } },
    'No steps have "a" in the name (expected: none); the steps are "b".',
  ],
  [
    { code: "token_usage", data: { usages: [{ kind: "total", used: 12, max: 90 }] } },
    "The trace used 12 total tokens (expected: more than 90).",
  ],
  [
    { code: "http_status", data: { status: 200, expected: "2xx" } },
    "The HTTP status is 200 (expected: any but 2xx).",
  ],
  [
    { code: "http_status", data: { status: 200, expected: [200, 201] } },
    "The HTTP status is 200 (expected: none of 200, 201).",
  ],
  [{ code: "duration", data: { ms: 12, maxMs: 90 } }, "The trace took 12 ms (expected: more than 90 ms)."],
  [{ code: "pattern_found", data: { pattern: "a" } }, '"a" was found in the reply, where it must not be.'],
  [{ code: "pattern_not_found", data: { pattern: "a", target: "t" } }, '"a" was not found in a text of "t".'],
  [{ code: "value_matches", data: found }, '"f" of "s" is the value that it must not be.'],
  [
    { code: "value_differs", data: { ...found, others: 2 } },
    '"f" of "s" is not the value that it must not be, nor is it in 2 more spans.',
  ],
  [
    { code: "schema_valid", data: target },
    '"f" of the span named like "t" matches the schema that it must not match.',
  ],
  [
    { code: "schema_invalid", data: { ...target, fault: "a: Required." } },
    '"f" of the span named like "t" does not match the schema: a: Required.',
  ],
  [{ code: "reply_without_words", data: {} }, "The reply contains no words."],
  [
    { code: "judge_score", data: { score: 0.9, threshold: 0.7, comment: "It is warm." } },
    "The judge's score is 0.9 (expected: below 0.7): It is warm.",
  ],
];

suite("reasons", () => {
  for (const [code, example] of Object.entries(examples)) {
    const cases = typeof example === "string" ? [[undefined, example]] : example;
    for (const [data, sentence] of cases) {
      test(`${code}: ${sentence}`, () => assert.equal(reasonText({ code, data } as Reason), sentence));
    }
  }

  for (const [comparison, sentence] of negatedExamples) {
    test(`negated ${comparison.code}: ${sentence}`, () => {
      const { reason, reasonCode, reasonData } = reasonFields(negated(comparison));
      assert.equal(reason, sentence);
      assert.deepEqual([reasonCode, reasonData], [comparison.code, { ...comparison.data, negated: true }]);
    });
  }

  test("every comparison has a negated sentence in the table above", () => {
    const codes = new Set(negatedExamples.map(([{ code }]) => code));
    assert.deepEqual(codes, new Set(Object.keys(negatedSentences)));
  });

  test("a reason without data adds no data to a result", () => {
    assert.deepEqual(reasonFields({ code: "no_duration" }), {
      reason: reasonText({ code: "no_duration" }),
      reasonCode: "no_duration",
    });
  });

  test("a run that ended by a refusal has its message and hint, and one that ended by a bug has no detail", () => {
    const refusal = new Refusal("PAYLOAD_TOO_LARGE", { message: "Too large.", hint: "Send less." });
    assert.equal(reasonText(runErrorReason(refusal)), "Too large. Send less.");
    assert.equal(
      reasonText(runErrorReason(new Error("secret"))),
      "Internal error while evaluating this run; see the service log.",
    );
  });
});
