// Generates the tables of limits from the constants in the code; constants that are not exported are read from source.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import {
  resetEmailsIn10Minutes,
  signUpsPerMinute,
  verificationEmailsPerHour,
  wrongPasswordsMax,
} from "../../src/http/accounts/attempt-limits.ts";
import { passwordLengthMax } from "../../src/http/accounts/schemas.ts";
import { streamsMax } from "../../src/http/events.ts";
import { largePerMinute, openBytesMax, sessionBytesMax } from "../../src/http/frame/bodies.ts";
import { wideTimes } from "../../src/http/frame/client-ip.ts";
import { elementsMax } from "../../src/http/frame/parse-json.ts";
import { trialsPerMinute } from "../../src/http/frame/rate-limit.ts";
import { requestsMax } from "../../src/http/frame/session.ts";
import { wrongKeysMax } from "../../src/http/frame/wrong-keys.ts";
import { requestsMax as receivedMax } from "../../src/http/ingestion/public-endpoint.ts";
import { bodyBytesMax } from "../../src/http/ingestion/read-body.ts";
import { inputBytesMax, testsMax } from "../../src/http/test-cases/launch-choice.ts";
import { testBytesMax } from "../../src/http/test-cases/schemas.ts";
import { bodyCharsMax } from "../../src/model/agent/body-template.ts";
import { criteriaMax } from "../../src/model/judge/judge.ts";
import { promptBounds } from "../../src/model/judge/prompt-bounds.ts";
import { requestsPerMinuteMax } from "../../src/model/key.ts";
import { type QuotaNoun, quotaNouns, unverifiedQuotas } from "../../src/model/quotas.ts";
import { backtestTracesMax } from "../../src/model/run/backtest.ts";
import { sandboxMsMax, stepsMax } from "../../src/model/run/budget.ts";
import { replyMax, runsMax } from "../../src/model/run/launch.ts";
import { inputsCharsMax, inputsMax, repeatsMax, runsOfTestMax } from "../../src/model/test-case/inputs.ts";
import { patternMax } from "../../src/model/test-case/pattern.ts";
import { backtestsKept } from "../../src/store/runs/backtests.ts";
import { recordWaitMs } from "../../src/store/traces/records.ts";
import { code, duration, number, size, table } from "./table.ts";

const untilVerified = "until the email is verified";
const ofKeys = "a key at most half of what is free, an account three quarters; more is 429";
const ofAccounts = "an account at most half of what is free; more is 429";

const quotaVariables: Record<QuotaNoun, string> = {
  projects: "SVC_ACCOUNT_PROJECTS_MAX",
  agents: "SVC_ACCOUNT_AGENTS_MAX",
  keys: "SVC_ACCOUNT_KEYS_MAX",
  tests: "SVC_ACCOUNT_TESTS_MAX",
  tokens: "SVC_ACCOUNT_ACCESS_TOKENS_MAX",
  erasures: "SVC_ACCOUNT_ERASURES_MAX",
};

const src = join(import.meta.dirname, "../../src");

export function limitTables(): string {
  const { bounds, pendingRunsMax, debounceMs, debounceCapMs, judgeDeadlineMs, quotas } = readConfig({});
  const section = (title: string, rows: string[][]) =>
    `## ${title}\n\n${table(["Limit", "Value", ""], rows)}`;
  const set = (variable: string) => `set by ${code(variable)}`;
  return [
    section("Receiving traces", [
      ["Body of a request, after decompression", size(bodyBytesMax), "fixed; larger is 413"],
      ["Nesting of a request", `${bounds.nestingMax} levels`, set("SVC_NESTING_MAX")],
      ["Spans in a request", number(bounds.requestSpansMax), set("SVC_REQUEST_SPANS_MAX")],
      ["Traces in a request", number(bounds.requestTracesMax), set("SVC_REQUEST_TRACES_MAX")],
      ["Values in a request", number(bounds.requestElementsMax), set("SVC_REQUEST_ELEMENTS_MAX")],
      ["Spans in a merged trace", number(bounds.traceSpansMax), set("SVC_TRACE_SPANS_MAX")],
      ["Size of a merged trace", size(bounds.traceBytesMax), set("SVC_TRACE_BYTES_MAX")],
      ["Log records in a request, or of a trace", "as many as spans", ""],
      ["Wait of log records for their span", duration(recordWaitMs), "then dropped and counted"],
      [
        "Requests of a key, or of a project",
        "no limit",
        `up to ${number(requestsPerMinuteMax)} per minute can be [set](operating.md#rate-limits); more is 429`,
      ],
      [
        "Traces of an account that wait to be evaluated",
        number(pendingRunsMax),
        `${set("SVC_PENDING_RUNS_MAX")}; counted every 5 s, and more is 429 with ${code("Retry-After")}`,
      ],
      ["`x-request-id`", "1 to 255 printable ASCII characters", ""],
      [
        "Wait for further OTLP batches",
        `${duration(debounceMs)}, at most ${duration(debounceCapMs)}`,
        set("SVC_DEBOUNCE_MS"),
      ],
    ]),
    section("Concurrent requests, per machine", [
      ["Requests to `/public/traces` and `/public/logs`", number(receivedMax), ofKeys],
      ["Bodies of more than 1 MB", number(constant("read-body.ts", "largePermits")), ofKeys],
      ["Requests to `/api`, per process", number(requestsMax), ofAccounts],
      ["Event streams", number(streamsMax), ofAccounts],
      [
        "Downloads and whole traces of more than 256 KB",
        number(constant("parts.ts", "downloadsMax")),
        ofAccounts,
      ],
      [
        "Outlines of more than 20,000 spans, whole spans",
        number(constant("parts.ts", "largeMax")),
        ofAccounts,
      ],
      [
        "Requests of the test editor that read traces",
        number(constant("editor.ts", "concurrentMax")),
        ofAccounts,
      ],
    ]),
    section("An account", [
      ...Object.entries(quotaNouns).map(([noun, name]) => [
        name[0]!.toUpperCase() + name.slice(1),
        number(quotas[noun as QuotaNoun]),
        `${set(quotaVariables[noun as QuotaNoun])}; ${number(unverifiedQuotas[noun as QuotaNoun])} ${untilVerified}; more is 409`,
      ]),
      [
        "Stored in a day (UTC): traces and log records as sent, large requests, inputs of test runs",
        `${quotas.bytesPerDay / 1024 ** 3} GB`,
        `${set("SVC_ACCOUNT_BYTES_PER_DAY")}; more is 429, of traces and log records 403`,
      ],
    ]),
    section("Requests to the API", [
      ["Body of a request without a session", size(openBytesMax), "larger is 413"],
      ["Body of another request to `/api`", size(sessionBytesMax), `64 KB ${untilVerified}; larger is 413`],
      ["Values in a request to `/api`", number(elementsMax), `5,000 ${untilVerified}; more is 413`],
      [
        "Requests of more than 64 KB or 5,000 values",
        `${largePerMinute} per minute`,
        "of an account; more is 429",
      ],
    ]),
    section("Test cases", [
      ["Assertions in a test", number(constant("test-case.ts", "assertionsMax")), ""],
      ["Inputs of a test", `${number(inputsMax)}, ${number(inputsCharsMax)} characters together`, ""],
      ["Repeats of a test", number(repeatsMax), `at most ${number(runsOfTestMax)} inputs × repeats`],
      ["Request that saves a test", size(testBytesMax), `64 KB ${untilVerified}; larger is 413`],
      ["Nesting of a test", `${constant("test-case.ts", "levelsMax")} levels`, ""],
      ["Pattern", `${number(patternMax)} characters`, "all patterns of a test together must compile quickly"],
      ["Criteria of a semantic check", `1 to ${criteriaMax}`, ""],
      [
        "JSON Schema",
        size(constant("json-schema.ts", "schemaBytesMax")),
        `${constant("json-schema.ts", "schemaDepthMax")} levels`,
      ],
      ["Expected value or arguments", size(constant("assertion-issues.ts", "expectedBytesMax")), ""],
      [
        "Text that a pattern or schema looks at",
        `${number(constant("sandbox.ts", "sandboxTextMax"))} characters`,
        "longer is skipped",
      ],
      [
        "Validating one value, or searching one text",
        duration(constant("sandbox.ts", "defaultBudgetMs")),
        "longer is skipped",
      ],
      ["Schemas and long texts of one evaluation", duration(sandboxMsMax), "the rest is skipped"],
      [
        "Slow schemas and texts of one agent",
        `${duration(constant("sandbox.ts", "defaultAgentMsPerMinute"))} per minute`,
        "more is skipped",
      ],
      ["Comparisons of one evaluation", number(stepsMax), "the rest is skipped"],
    ]),
    section("Backtests", [
      ["Traces of a backtest", number(backtestTracesMax), "the latest live ones"],
      ["Running backtests of an agent", "1", "more is 409"],
      ["Backtests kept for an agent", number(backtestsKept), "the latest"],
    ]),
    section("Manual runs", [
      ["Reply of an agent", "60 s, 1 MB", "fixed"],
      ["Request to an agent", `${number(bodyCharsMax)} characters`, "`too_large`"],
      [
        "Conversation that continues",
        `${number(constant("turns.ts", "conversationCharsMax"))} characters`,
        "`too_large`",
      ],
      ["Reply shown by the API", `${number(replyMax)} characters`, "the trace has the full reply"],
      ["Test runs of one run", number(runsMax), "tests × inputs × repeats"],
      ["Inputs of one run", size(inputBytesMax), "the inputs of its tests together, as JSON"],
      ["Tests of one run", number(testsMax), ""],
      ["Unfinished runs of an agent", number(constant("launches.ts", "openMax")), "more is 409"],
    ]),
    section("Accounts and the API", [
      ["Password", `${constant("schemas.ts", "passwordLengthMin")} to ${passwordLengthMax} characters`, ""],
      [
        "API key, access token",
        `${constant("keys.ts", "defaultDays")} days unless chosen otherwise`,
        "at most a year, or never",
      ],
      [
        "Wrong passwords",
        `${wrongPasswordsMax.ofClientIn5Minutes} in 5 minutes per account and IP address`,
        `${wrongPasswordsMax.ofAccountInAnHour} an hour per account, ${wrongPasswordsMax.fromIpIn5Minutes} in 5 minutes per IP address, not for clients that signed in to the account before; more is 429`,
      ],
      ["Sign-ups", `${signUpsPerMinute} per minute and IP address`, "more is 429"],
      ["Password reset emails", `${resetEmailsIn10Minutes} in 10 minutes per email`, "more is 429"],
      [
        "Verification emails",
        `1 per minute and account, ${verificationEmailsPerHour} an hour per email`,
        "more is 429",
      ],
      [
        "Requests with an unknown API key or access token",
        `${number(wrongKeysMax)} in 5 minutes per IP address`,
        "more is 429 instead of 401; valid keys are never limited",
      ],
      [
        "What counts as one IP address in these limits",
        "an IPv4 address, or a /64 of IPv6",
        `all of a /48 together may use ${wideTimes} times as much`,
      ],
      ["Session", "7 days without use", ""],
      ["Verification link, reset link", "24 h, 1 h", ""],
      ["Test messages, connection tests", `${trialsPerMinute} per minute and account`, "more is 429"],
      ["Concurrent dry runs", `${constant("editor.ts", "judgedOfAccountMax")} per account`, "more is 429"],
      [
        "Dry runs, scenario trials",
        `${constant("editor.ts", "dryRunsPerMinute")} per minute and account`,
        "more is 429",
      ],
      [
        "Drafts from a trace, completions",
        `${constant("editor.ts", "readsPerMinute")} per minute and account`,
        "more is 429",
      ],
      [
        "Backtest estimates",
        `${constant("backtests.ts", "estimatesPerMinute")} per minute and account`,
        "more is 429",
      ],
      [
        "Saving tests whose patterns or schemas take long to check",
        `1 at a time, ${constant("parse.ts", "costlyPerMinute")} per minute and account`,
        "more is 429",
      ],
      ["Trace read in one answer", size(constant("parts.ts", "wholeBytesMax")), "larger: read it in parts"],
      [
        "Insights in one answer",
        `${number(constant("insights-span.ts", "pointsMax"))} points`,
        "31 days by hour, 366 by day",
      ],
    ]),
    section("What the judge is shown", [
      [
        "Reply",
        characters(promptBounds.reply),
        `longer: judged in up to ${promptBounds.replyParts} parts that overlap`,
      ],
      ["User's input", characters(promptBounds.userInput), shortened],
      [
        "Conversation around a reply",
        characters(promptBounds.conversation),
        `with the reply at most ${characters(promptBounds.conversationAndReply)}; the oldest items are left out`,
      ],
      ["System instructions", characters(promptBounds.systemInstructions), "part of the conversation"],
      [
        "A message, tool call or result",
        characters(promptBounds.conversationItem),
        "longer: its beginning and end, or more if there is room",
      ],
      ["Items of a conversation", number(promptBounds.conversationItems), "the oldest are left out"],
      [
        "Messages before the input, for scenarios",
        characters(promptBounds.earlierMessages),
        "the oldest are left out",
      ],
      ["Scenario", characters(promptBounds.scenario), shortened],
      ["Criterion, reference reply", `${characters(promptBounds.criterion)} each`, shortened],
    ]),
    section("How long things are kept", [
      [
        "Traces, runs, results",
        "until deleted",
        "or for the project's [retention time](privacy.md#retention)",
      ],
      ["Judge answers", "30 days", ""],
      ["Ingestion log", "7 days", ""],
      ["Runs waiting for the judge", duration(judgeDeadlineMs), set("SVC_JUDGE_DEADLINE_MS")],
      ["Emails in the outbox", "until deleted by hand, or with their account", ""],
    ]),
  ].join("\n\n");
}

const shortened = "longer: its beginning and end";

function characters(count: number): string {
  return `${number(count)} characters`;
}

/** The value of a numeric constant in the one file of this name in src/. */
function constant(file: string, name: string): number {
  const pattern = new RegExp(`^(?:export )?const ${name} = ([\\d_ *]+);`, "m");
  const found = globSync(`**/${file}`, { cwd: src }).flatMap(
    path => pattern.exec(readFileSync(join(src, path), "utf8"))?.[1] ?? [],
  );
  if (found.length !== 1) throw new Error(`${found.length} files ${file} in src/ have a constant ${name}`);
  return found[0]!
    .replaceAll("_", "")
    .split("*")
    .reduce((product, factor) => product * Number(factor), 1);
}
