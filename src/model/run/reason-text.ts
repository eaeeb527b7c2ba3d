// Makes a sentence of a reason: an English text from its code and data.

import { negatedSentences } from "./negated-reason-text.ts";
import type { Counts, Outcome } from "./outcome.ts";
import type { Comparisons, Range, Reason, ReasonCode, ReasonData } from "./reason.ts";
import {
  callsText,
  countText,
  criteriaText,
  listText,
  quote,
  saying,
  spansText,
  stepsText,
  textOf,
  traceText,
  usageText,
  wordlessText,
} from "./reason-phrases.ts";

/** The reason in one or two complete sentences. */
export function reasonText({ code, data }: Reason): string {
  const of = data && "negated" in data ? negatedSentences[code as keyof Comparisons] : sentences[code];
  return (of as (data: unknown) => string)(data);
}

/** A reason in results and responses: the sentence, its code and its data. */
export type ReasonFields = { reason: string; reasonCode: ReasonCode; reasonData?: Record<string, unknown> };

export function reasonFields(reason: Reason): ReasonFields {
  const { code, data } = reason;
  return { reason: reasonText(reason), reasonCode: code, ...(data ? { reasonData: data } : {}) };
}

const sentences: { [C in ReasonCode]: (data: ReasonData[C]) => string } = {
  tool_call_count: data => callsText(data, "the expected", rangeText(data)),
  step_count: data => stepsText(data, rangeText(data)),
  token_usage: ({ usages }) =>
    `The trace used ${usages.map(({ kind, used, max }) => `${used} ${kind} tokens (limit: ${max})`).join(", ")}.`,
  http_status: ({ status, expected }) =>
    `The HTTP status is ${status} (expected: ${Array.isArray(expected) ? `one of ${expected.join(", ")}` : expected}).`,
  duration: ({ ms, maxMs, received }) =>
    `The ${received ? "reply" : "trace"} took ${ms} ms (limit: ${maxMs} ms).`,
  pattern_found: ({ pattern, target, every }) => `${quote(pattern)} was found in ${textOf(target, every)}.`,
  pattern_not_found: ({ pattern, target }) => `${quote(pattern)} was not found in ${textOf(target)}.`,
  value_matches: ({ field, span, others = 0 }) =>
    `${quote(field)} of ${quote(span)} is the expected value${others > 0 ? `, as it is in ${spansText(others)}` : ""}.`,
  value_differs: ({ field, span, others }) =>
    `${quote(field)} of ${quote(span)} is not the expected value${
      others > 0 ? `, nor is it in ${spansText(others)}` : ""
    }.`,
  schema_valid: ({ field, target }) => `${quote(field)} of the span named like ${quote(target)} is valid.`,
  schema_invalid: ({ field, target, fault }) =>
    `${quote(field)} of the span named like ${quote(target)} is invalid${saying(fault)}`,
  judge_score: ({ score, threshold, votes, criteria, comment }) =>
    `The judge's score is ${score} (threshold: ${threshold}${
      votes ? `; ${votes.passed} of ${votes.of} votes reach it` : ""
    })${saying(criteria ? criteriaText(criteria) : (comment ?? ""))}`,
  reply_without_words: ({ target }) => wordlessText(target),

  no_http_status: () => "The trace has no HTTP status: http.response.status_code is missing.",
  unusable_http_status: () =>
    "The trace has no usable HTTP status: http.response.status_code is not a whole number from 100 to 999.",
  no_response: () => "The agent sent no HTTP response.",
  no_token_usage: ({ attributes, unusable = [], turn }) => {
    const are = (some: string[], what: string) =>
      some.length > 0 ? [`${some.join(" and ")} ${some.length === 1 ? "is" : "are"} ${what}`] : [];
    const faults = [
      ...are(attributes, "missing"),
      ...are(unusable, `${unusable.length === 1 ? "not a whole number" : "not whole numbers"} up to 2^53−1`),
    ];
    const usage = usageText([...attributes, ...unusable]);
    return `${turn === undefined ? "The trace" : `Turn ${turn}`} has no ${unusable.length > 0 ? "usable " : ""}${usage}: ${faults.join(", and ")}.`;
  },
  unmeasured_calls: ({ spans, calls }) =>
    `${calls === 1 ? "1 model call has" : `${calls} model calls have`} no usable token usage, so the sum is unknown: ${listText(spans)}.`,
  no_duration: () => "The trace has no duration: its spans have no usable start and end time.",
  no_reply: () =>
    "The trace has no reply text: gen_ai.response.text and gen_ai.output.messages are missing or blank.",
  blank_reply: () => "The agent's reply is blank.",
  failed_without_reply: () => "The agent failed without a reply.",
  no_text_in_spans: ({ target, without }) =>
    `${
      without === undefined ? "No span" : without === 1 ? "1 span" : `${without} spans`
    } named like ${quote(target)} ${
      without === undefined ? "has a" : without === 1 ? "has no" : "have no"
    } text: gen_ai.response.text and gen_ai.output.messages are missing or blank.`,
  not_json: ({ target, field, values }) =>
    `${quote(field)} of ${countText(values, "span")} named like ${quote(target)} is not JSON, so it cannot be compared.`,
  no_attribute: ({ target, field }) =>
    `No span named like ${quote(target)} has the attribute ${quote(field)}.`,
  no_span: ({ target, spans }) => `No span is named like ${quote(target)}; the spans are ${listText(spans)}.`,
  no_steps: ({ name, turn }) =>
    `${traceText(turn)} has no steps besides its root, so whether ${quote(name)} ran is unknown.`,
  no_call_arguments: ({ name, calls, unreadable }) =>
    unreadable
      ? `The arguments of ${countText(calls)} of ${quote(name)} cannot be read: gen_ai.tool.call.arguments is not the JSON object of the arguments.`
      : `The trace has no arguments for ${countText(calls)} of ${quote(name)}: gen_ai.tool.call.arguments is missing or null.`,
  unread_calls: ({ name, calls }) =>
    `Messages show ${countText(calls)} of ${quote(name)} that could not be read.`,
  no_messages: ({ name, turn }) =>
    `${traceText(turn)} is a root span without messages, so whether ${quote(name)} was called is unknown.`,
  turn_not_reached: ({ turn, turns }) => `Turn ${turn} did not take place: the run ended in turn ${turns}.`,
  content_not_stored: () => "The content of the trace was not stored, or has been forgotten.",
  turn_not_in_trace: ({ turn }) => `This trace is a single turn; turn ${turn} is not in it.`,
  no_agent_trace: () => "The agent sent no trace, so this cannot be checked.",

  dependency_not_passed: ({ id }) => `Depends on ${quote(id)}, which did not pass.`,
  dependency_waiting: ({ id }) => `Depends on ${quote(id)}, which is waiting for the judge.`,
  no_answer: () => "No answer arrived.",
  invalid_threshold: () => "The threshold is not a number from 0 to 1.",
  too_many_values: ({ values, max }) => `Only the latest ${max} of ${values} values were checked.`,
  text_too_long: ({ max }) => `The text is longer than ${max} characters, the most that is checked.`,
  arguments_too_large: () => "The arguments are too large to compare.",
  redacted: ({ rules }) =>
    `The privacy ${rules.length === 1 ? "rule" : "rules"} ${rules.map(quote).join(", ")} redacted a part of what this check looks at, which could have changed its outcome.`,
  run_budget_spent: () =>
    "The tests of this evaluation compare too much. Use fewer assertions that search all spans or long lists.",
  sandbox_timeout: ({ ms }) => `This check took longer than its limit of ${ms} ms.`,
  sandbox_out_of_memory: () => "This check used more memory than its limit.",
  sandbox_run_budget: ({ ms }) =>
    `The checks of this evaluation used up their ${ms / 1000} s for schemas and long texts. Simplify the schemas and patterns.`,
  sandbox_agent_budget: ({ ms }) =>
    `The agent's slow checks used up their ${ms / 1000} s per minute. Simplify the schemas and patterns that time out.`,
  sandbox_failed: ({ message }) => `This could not be checked${saying(message)}`,
  sandbox_cancelled: () => "The check was cancelled.",

  no_judge: () =>
    "No judge is configured. Set one up in the project settings, or set SVC_JUDGE_MODEL for the service.",
  judge_key_unreadable: () =>
    "The judge is paused: its stored API key cannot be decrypted. Enter the key again.",
  judge_paused: ({ why }) => `The judge is paused. ${why} Edit or test its connection to resume.`,
  judge_database_unavailable: () => "The judge was not called: the service's database is unavailable.",
  judge_busy: () => "The judge is busy with other traces.",
  judge_busy_until_deadline: () => "The judge was busy with other traces until the deadline.",
  judge_connection_changed: () => "The connection of the judge changed. The judge is asked again soon.",
  judge_rate_limited: ({ tries }) => `The judge's tokens-per-minute limit is reached${triesText(tries)}.`,
  judge_suspended: ({ because, tries }) =>
    `Calls to the judge are suspended for a while${triesText(tries)}.${
      because ? ` ${reasonText(because)}` : ""
    }`,
  judge_not_asked: () => "The judge was not asked: the cost was not confirmed.",
  judge_not_sampled: ({ percent }) => `Not sampled: ${percent}% of this agent's traces are judged.`,
  judge_budget_spent: budget =>
    `The agent's daily judge budget of ${
      "usd" in budget ? dollars(budget.usd) : `${budget.tokens.toLocaleString("en")} tokens`
    } is used up. It resets at 00:00 UTC.`,
  judge_account_budget_spent: ({ tokens }) =>
    `Your account's daily budget of ${tokens.toLocaleString("en")} tokens for this service's judge is used up. It resets at 00:00 UTC. Or connect a judge of your own.`,
  judge_cancelled: () => "The call to the judge was cancelled.",
  judge_waiting: () => "The judge has not answered yet.",
  no_scenario: () => "The test has no scenario to match.",
  judge_url_blocked: ({ why }) => `The judge's URL is blocked: ${why}`,
  judge_connection_invalid: () => "The judge could not be called: its URL or API key may be malformed.",
  judge_unreachable: ({ why, tries }) => `The judge could not be reached: ${why}${triesText(tries)}.`,
  judge_broken_off: ({ why, tries }) => `The judge's server ${why}${triesText(tries)}.`,
  judge_timeout: ({ tries }) => `The judge did not answer in time${triesText(tries)}.`,
  judge_cut_off: ({ tries }) => `The judge's answer broke off${triesText(tries)}.`,
  judge_http_error: ({ status, waitMs, tries }) =>
    `The judge answered with status ${status}${triesText(tries, waitMs)}.`,
  judge_quota_exceeded: ({ waitMs, tries }) =>
    `The quota at the judge's provider is used up${triesText(tries, waitMs)}.`,
  judge_gateway_budget_exceeded: ({ waitMs, tries }) =>
    `The budget at the judge's gateway is used up${triesText(tries, waitMs)}.`,
  judge_key_rejected: ({ status }) => `The judge rejected the API key (${status}).`,
  judge_upstream_rejected: ({ status }) =>
    `The provider behind the judge's gateway rejected the gateway's own key (${status}). Fix that key in the gateway.`,
  judge_header_missing: ({ status }) =>
    `The judge's gateway requires a header that is missing, such as the provider's name (${status}). Add the header to the connection.`,
  judge_model_unknown: ({ status }) => `The judge's server does not know this model (${status}).`,
  judge_model_denied: ({ status }) => `The judge's API key has no access to this model (${status}).`,
  judge_url_unknown: ({ status }) => `The judge's server does not know this URL (${status}).`,
  judge_not_found: ({ status }) => `The judge does not know this URL or model (${status}).`,
  judge_redirected: ({ status }) => `The judge redirects elsewhere, which is not followed (${status}).`,
  judge_tls_required: ({ status }) =>
    `The judge's server expects TLS: its URL must begin with https:// (${status}).`,
  judge_request_rejected: ({ status }) => `The judge rejected the request (${status}).`,
  judge_input_rejected: ({ status }) => `The judge rejected this input (${status}).`,
  judge_context_exceeded: ({ status }) =>
    `The prompt is longer than the judge's context (${status}). Use a larger context or another model.`,
  judge_system_role_rejected: ({ status }) =>
    `The judge's model rejected the roles of the messages (${status}).`,
  judge_silent: ({ seconds }) => `The judge did not answer within ${seconds} s.`,
  judge_answer_too_large: () => "The judge's answer is larger than 1 MB.",
  judge_answer_truncated: () => "The judge's answer was cut short.",
  judge_answer_filtered: () => "The judge refused to answer, or a content filter withheld the answer.",
  judge_answer_failed: () => "The judge failed while it wrote the answer.",
  judge_not_a_model: () => "The judge's server did not answer like a language model's server.",
  judge_answer_malformed: () => "The judge did not answer with the requested JSON.",
  judge_integrity_failed: ({ wrong }) =>
    `The judge failed the integrity check: it gave the wrong answer to a question whose answer is ${
      { always: "yes", never: "no", class: "known" }[wrong]
    }.`,
  judge_context_too_small: () =>
    "The judge's context is too small: its server cut the beginning of the prompt. Raise the context length.",
  judge_echo_wrong: () => "The judge did not repeat the words that show that it read the whole prompt.",
  judge_question_skipped: () => "The judge left this question out of its answer twice.",
  judge_undecided: ({ comment, criteria }) =>
    `The judge could not decide${criteria ? ` ${criteria.map(quote).join(", ")}` : ""}${saying(comment)}`,
  does_not_apply: ({ comment }) => `The check does not apply${saying(comment)}`,
  judge_not_conditional: () =>
    "The judge says that the criterion does not apply, but the criterion states no condition.",
  judge_withheld: ({ comment }) =>
    `The judge could not decide: the project does not let it see what tools returned.${comment && ` ${comment}`}`,
  judge_votes_split: ({ passed, failed, undecided }) =>
    `The judge could not decide: of ${passed + failed + undecided} votes, ${passed} reached the threshold, ${failed} did not${
      undecided > 0 ? `, and ${undecided} ${undecided === 1 ? "was" : "were"} undecided` : ""
    }.`,
  judge_quote_missing: () => "The judge quoted no passage of the reply.",
  judge_quote_trivial: () => "The passage that the judge quoted has no word that says anything.",
  reply_too_long: ({ shown, of }) =>
    `The reply is too long to judge: ${of} characters, of which the judge can be shown ${shown}.`,
  judge_quote_not_found: () =>
    "The passage that the judge quoted is not in the agent's own words or tool calls.",
  judge_comparison_not_found: () =>
    "The passage that the judge compared the reply with is not in what it was shown.",

  agent_error: ({ turn, message }) =>
    `Agent error${turn === undefined ? "" : ` in turn ${turn}`}: ${message}`,
  checks_counted: ({ outcome, counts }) => countsText(outcome, counts),
  checks_waiting: ({ checked, of }) => `Waiting for the judge, ${checked} of ${of} checked`,
  scenario_no_match: ({ comment }) => `Skipped, the scenario does not match${comment ? `: ${comment}` : ""}`,

  worker_died: ({ attempts }) => `The worker crashed ${attempts} times while evaluating this run.`,
  worker_died_before_sending: ({ attempts }) =>
    `The worker crashed ${attempts} times before anything was sent.`,
  worker_stopped: () => "The worker stopped during this run. Run it again.",
  internal_error: () => "Internal error while evaluating this run; see the service log.",
  rejected: ({ message, hint }) => (hint ? `${message} ${hint}` : message),
};

/** "at least 1", "at most 3", "exactly 2", "2 to 4". */
function rangeText({ min, max }: Range): string {
  if (max === undefined) return `at least ${min}`;
  if (max === min) return `exactly ${min}`;
  return min === 0 ? `at most ${max}` : `${min} to ${max}`;
}

/** " (not called again for 45 s; 3 tries)". */
function triesText(tries: number | undefined, waitMs?: number): string {
  const parts = [
    ...(waitMs === undefined ? [] : [`not called again for ${waitText(waitMs)}`]),
    ...(tries !== undefined && tries > 1 ? [`${tries} tries`] : []),
  ];
  return parts.length > 0 ? ` (${parts.join("; ")})` : "";
}

function waitText(ms: number): string {
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;
}

function dollars(usd: number): string {
  return usd.toLocaleString("en", { style: "currency", currency: "USD", maximumFractionDigits: 9 });
}

/** "Passed, 4 of 5 checked, 1 skipped". */
function countsText(outcome: Outcome, counts: Counts): string {
  return `${outcomeWords[outcome]}, ${checkedText(counts)}`;
}

/** "4 of 5 checked, 1 skipped". */
export function checkedText(counts: Counts): string {
  const checked = counts.passed + counts.failed;
  const total = checked + counts.skipped + counts.missing_instrumentation;
  const parts = [`${checked} of ${total} checked`];
  if (counts.failed > 0) parts.push(`${counts.failed} failed`);
  if (counts.skipped > 0) parts.push(`${counts.skipped} skipped`);
  if (counts.missing_instrumentation > 0)
    parts.push(`${counts.missing_instrumentation} missing instrumentation`);
  return parts.join(", ");
}

const outcomeWords: Record<Outcome, string> = {
  passed: "Passed",
  failed: "Failed",
  skipped: "Skipped",
  missing_instrumentation: "Missing instrumentation",
};
