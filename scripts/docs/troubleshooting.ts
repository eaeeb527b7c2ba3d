// Generates the tables of error codes, notices and reasons. Types make the compiler reject a table with missing rows.
import type { AgentCallError } from "../../src/model/agent/call.ts";
import { refusals } from "../../src/model/refusals.ts";
import type { Applicability, Check } from "../../src/model/run/run.ts";
import type { Notice } from "../../src/model/trace/trace.ts";
import { code, table } from "./table.ts";

export function codeTable(): string {
  const rows = Object.entries(refusals).map(([name, [status, what, todo]]) => {
    const linked = todo.replace(/`SVC_\w+`/g, setting => `[${setting}](configuration.md)`);
    return [String(status), code(name), what, linked];
  });
  return table(["Status", "Code", "What happened", "What to do"], rows);
}

const notices: Record<Notice, [what: string, todo: string]> = {
  no_user_input: [
    "The trace contains no user input, so tests that run when relevant did not run.",
    "Send `gen_ai.input.messages` or `gen_ai.prompt` on the model's span.",
  ],
  several_model_calls: [
    "Several calls of models had different inputs, and no span around them has input and reply: those of the last call were read.",
    "Read from another span: press its name on the trace, or set `readFrom` of the agent. Or send input and reply on the root.",
  ],
  noise: [
    "The trace holds only an MCP client's own spans, health checks or expressions of a workflow tool: it is not listed and not evaluated.",
    "Nothing. To see such traces, set the filter Noise to Shown.",
  ],
  routing_unavailable: [
    "The judge could not say which scenarios match, so tests that run when relevant did not run.",
    "Connect a [judge](judging.md), or set the test to Always run.",
  ],
  orphan_spans: [
    "A span names a parent that is not in the trace.",
    "Export the parent too, or point the span at the nearest one that is sent.",
  ],
  no_root: [
    "Every span names a parent; the earliest span is treated as the root.",
    "Export the first span without a parent.",
  ],
  no_timing: [
    "The trace has no duration, so response times cannot be checked.",
    "Send start and end times on the root span, the end after the start.",
  ],
  other_convention: [
    "The spans use attributes of another convention, which checks do not read.",
    "Send the attributes that the notice names; see [Frameworks](frameworks.md).",
  ],
  judged_earlier_revision: [
    "The trace changed after its last evaluation.",
    "Send the conversation under a new identity to have it evaluated; the trace of a manual run can be re-evaluated.",
  ],
  trace_differs: [
    "In a manual run Onlooker received another HTTP status or reply than the trace has, and evaluated what it received.",
    "Compare both in the test run; check what changes the reply between the agent and its caller.",
  ],
  content_not_stored: [
    "The agent stores no content, so the trace has only its structure. Checks that need content are missing instrumentation.",
    "Nothing, if that is meant; otherwise store content, in the settings of the agent. See [Privacy](privacy.md).",
  ],
  no_trace_arrived: [
    "In a manual run the agent sent no trace, so only reply, status and timing were checked.",
    "Continue the request's `traceparent`, or send the trace with the same `x-request-id`; see [Manual runs](manual-runs.md#the-trace-of-a-turn).",
  ],
};

export function noticeTable(): string {
  const rows = Object.entries(notices).map(([name, [what, todo]]) => [code(name), what, todo]);
  return table(["Notice", "What it means", "What to do"], rows);
}

type NotRun = Exclude<
  Applicability["why"],
  "always_run" | "manual_run" | "scenario_matched" | "scenario_unsure"
>;

const notRun: Record<NotRun, [what: string, todo: string]> = {
  disabled: ["The test is disabled.", "Activate it."],
  manual_only: [
    "The test is set to Manual runs only.",
    "Set its passive behavior to Always run or Run when relevant.",
  ],
  multi_turn: ["The test does not have exactly one turn.", "Give it exactly one turn, or run it manually."],
  scenario_no_match: [
    "The scenario does not match the user's input.",
    "Nothing, if that is right. Otherwise reword the scenario and try it on recent inputs.",
  ],
  no_user_input: ["The trace contains no user input.", "Send `gen_ai.input.messages` or `gen_ai.prompt`."],
  content_not_stored: [
    "The agent stores no content, or the content of the trace has been forgotten.",
    "Make the test Always run, with checks that need no content, or store content.",
  ],
  routing_unavailable: [
    "No judge was connected, or the judge did not say whether the scenario matches.",
    "Connect a [judge](judging.md), or set the test to Always run.",
  ],
  routing_waiting: ["The judge will be asked again.", "Wait."],
};

export function notRunTable(): string {
  const rows = Object.entries(notRun).map(([why, [what, todo]]) => [code(why), what, todo]);
  return table(["`why`", "What it means", "What to do"], rows);
}

const skipped: Record<NonNullable<Check["skipped"]>, [what: string, todo: string]> = {
  dependency: ["A check in `depends_on` did not pass.", "Look at that check."],
  threshold: ["The threshold is not a number from 0 to 1.", "Correct the threshold."],
  no_judge: ["No judge is connected.", "[Connect one](judging.md#connecting-a-judge)."],
  judge_unavailable: [
    "The judge did not answer before the deadline.",
    "Re-evaluate from the traces list or the manual run, once it answers.",
  ],
  judge_unusable: [
    "The judge's answer could not be used.",
    "[Test the connection](judging.md#testing-the-connection); choose a stronger model.",
  ],
  budget: [
    "The agent's daily budget is used up.",
    "Raise it in the agent's settings, or wait for the next day (UTC).",
  ],
  undecided: ["The judge could not decide.", "Make the criterion more specific, or add a reference reply."],
  does_not_apply: ["No criterion applies: each has a condition that does not hold.", "Nothing."],
  withheld: [
    "The judge could not decide without the tool results, which the project withholds from it.",
    "Let the judge see tool results in the project's privacy settings, or check the tool calls by other checks.",
  ],
  redacted: [
    "A privacy rule changed the text, which could have made the outcome.",
    "Check something that the rule leaves, or turn the rule off for this project.",
  ],
  not_sampled: ["The trace is not in the share that is judged.", "Raise the agent's sampling."],
  waiting: ["The judge is asked again later.", "Wait; the run says when."],
  limit: ["The check exceeded a limit on time or size.", "See [Limits](limits.md)."],
};

export function skippedTable(): string {
  const rows = Object.entries(skipped).map(([name, [what, todo]]) => [code(name), what, todo]);
  return table(["`skipped`", "What happened", "What to do"], rows);
}

const callErrors: Record<AgentCallError["code"], [what: string, todo: string]> = {
  timeout: ["No complete reply within 60 s.", "Make the agent answer sooner, or stream."],
  refused_target: [
    "The URL, or a redirect target, may not be called, or it redirects more than five times.",
    "Use a public URL, or have the operator allow it with `SVC_ALLOW_PRIVATE_TARGETS`.",
  ],
  unreachable: [
    "The host name does not exist, the connection was refused, or the certificate is not trusted.",
    "Check the URL from the service's machine.",
  ],
  broken_off: [
    "The connection broke before the whole reply arrived. The agent may have received the request.",
    "Check the agent's log.",
  ],
  http_status: [
    "A status other than 2xx, such as a redirect that would drop the message. The text of the reply is kept.",
    "Check the agent, its headers and keys; use the URL that a redirect leads to.",
  ],
  bad_reply: [
    "No text where the connection looks for it, or [an error in place of a reply](manual-runs.md#replies-that-are-errors).",
    "Correct the JSON pointer, or fix what the reason names; send a test message to see the reply.",
  ],
  no_reply: [
    "The connection reads the reply from the trace, and no trace with a reply arrived within the wait.",
    "Raise the wait; check that the agent sends `gen_ai.response.text` or `gen_ai.output.messages`.",
  ],
  too_large: [
    "The reply, the request or the conversation is too large.",
    "See [Limits](limits.md#manual-runs).",
  ],
  cancelled: ["The run was cancelled.", ""],
};

export function callErrorTable(): string {
  const rows = Object.entries(callErrors).map(([name, [what, todo]]) => [code(name), what, todo]);
  return table(["Code", "What happened", "What to do"], rows);
}
