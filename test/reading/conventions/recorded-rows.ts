// What a recording gives with nothing chosen, compared with what it must give, by row.
import { isDeepStrictEqual } from "node:util";
import { conventionsOfNewAgents } from "../../../src/model/agent/read-by.ts";
import { readByConventions } from "../../../src/reading/conventions/conventions.ts";
import { translateSpans } from "../../../src/reading/conventions/translate.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { identityOf } from "../../../src/reading/derived/identity.ts";
import { type Encoding, type Expected, recordedTraces } from "./recordings.ts";

export const rows = [
  "traces",
  "input",
  "reply",
  "tool name",
  "arguments",
  "result",
  "once",
  "tokens",
  "model",
  "conversation",
  "user",
  "failed",
] as const;
export type Row = (typeof rows)[number];

export function readRecording(name: string, encoding: Encoding = "protobuf") {
  return recordedTraces(name, encoding).map(trace => {
    const reading = readByConventions(trace.spans, conventionsOfNewAgents);
    const spans = reading ? translateSpans(trace.spans, reading) : trace.spans;
    return {
      trace,
      derived: derive(trace, undefined, reading),
      identity: identityOf(trace.spans, reading),
      spans,
    };
  });
}

type Read = ReturnType<typeof readRecording>;

const distinct = <T>(values: (T | null | undefined)[]) => [...new Set(values.filter(value => value != null))];

/** The rows of which a recording says anything, with what was read and what must be; a row that is right is not in `wrong`. */
export function rowsOf(read: Read, expected: Expected): { wrong: Map<Row, unknown>; said: Set<Row> } {
  const wrong = new Map<Row, unknown>();
  const said = new Set<Row>();
  const check = (row: Row, found: unknown, isRight: boolean, says = true) => {
    if (says) said.add(row);
    if (!isRight) wrong.set(row, found);
  };
  const same = (row: Row, found: unknown, wanted: unknown, says = true) =>
    check(row, found, isDeepStrictEqual(found, wanted), says);
  const derived = read.map(one => one.derived);
  // Traces of health checks alone are noise.
  same("traces", derived.filter(one => !one.noise).length, expected.traces, false);

  const inputs = distinct(derived.map(one => one.userInput?.text));
  same("input", inputs, expected["user input"] ?? [], expected["user input"] !== null);
  for (const field of ["responseText", "judgedText"] as const) {
    const replies = distinct(derived.map(one => one[field]?.text.trimEnd()));
    if (!wrong.has("reply")) same("reply", replies, expected.reply ?? [], expected.reply !== null);
  }

  // Pydantic AI's own tool for structured replies.
  const all = derived.map(one => one.toolCalls.filter(call => call.name !== "final_answer"));
  const calls = all.flat();
  // Where each call of a model is a trace, the next one tells the call again.
  const each = new Set(calls.map(({ name, arguments: args }) => `${name} ${JSON.stringify(args)}`));
  const isOnce = each.size === expected.calls && all.every(own => own.length <= expected.calls!);
  check(
    "once",
    calls.map(one => one.name),
    expected.calls === null || isOnce,
    expected.calls !== null,
  );
  const wanted = expected["tool call"];
  if (wanted) same("tool name", calls[0]?.name, wanted.name);
  if (wanted && wanted.args !== null) same("arguments", calls[0]?.arguments, wanted.args);
  const wantedResult = expected["tool result"];
  if (wantedResult !== null) {
    const results = calls.filter(({ arguments: args }) => isDeepStrictEqual(args, calls[0]?.arguments));
    const texts = results.map(({ result }) =>
      typeof result === "object" && result !== null ? Object.values(result)[0] : result,
    );
    check("result", texts, texts.includes(wantedResult));
  }

  const sum = (kind: "input" | "output") => {
    const counts = derived.flatMap(one => one.tokens[kind] ?? []);
    return counts.length === 0 ? null : counts.reduce((a, b) => a + b, 0);
  };
  const tokens = sum("input") === null && sum("output") === null ? null : [sum("input"), sum("output")];
  const wantedTokens = expected["tokens in/out, each call counted once"];
  same("tokens", tokens, wantedTokens, wantedTokens !== null);

  const conversations = distinct(read.map(one => one.identity.conversationId));
  same(
    "conversation",
    conversations,
    expected.conversation === null ? [] : [expected.conversation],
    expected.conversation !== null,
  );
  const users = distinct(read.map(one => one.identity.userId));
  same("user", users, expected.user === null ? [] : [expected.user], expected.user !== null);
  const models = distinct(read.map(one => one.identity.model));
  const names = expected["model, any of"];
  check(
    "model",
    models,
    names === null || (models.length > 0 && models.every(model => names.includes(model))),
    names !== null,
  );
  check("failed", false, !expected.failed || derived.some(one => one.failed), expected.failed);
  return { wrong, said };
}
