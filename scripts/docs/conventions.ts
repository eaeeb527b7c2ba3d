// Generates the table of conventions that agents can choose, with what was read in the recordings of test/fixtures.

import type { MergedTrace } from "../../src/model/trace/trace.ts";
import { conventionNames, readByConventions } from "../../src/reading/conventions/conventions.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { identityOf } from "../../src/reading/derived/identity.ts";
import { shownSwitch } from "../../src/reading/presets/content-switch.ts";
import { presets } from "../../src/reading/presets.ts";
import { recordedTraces, recordings } from "../../test/reading/conventions/recordings.ts";
import { code, table } from "./table.ts";

const columns = [
  "input",
  "reply",
  "tools",
  "results",
  "tokens",
  "model",
  "finish",
  "conversation",
  "user",
] as const;
type Column = (typeof columns)[number];

const headings: Record<Column, string> = {
  input: "Input",
  reply: "Reply",
  tools: "Tool calls",
  results: "Results",
  tokens: "Tokens",
  model: "Model",
  finish: "Finish reason",
  conversation: "Conversation",
  user: "User",
};

export function readTable(): string {
  const traces = recordings.flatMap(([name]) => recordedTraces(name));
  const found = new Map<string, Set<Column>>(conventionNames.map(name => [name, new Set()]));
  const recorded = new Set<string>();
  for (const trace of traces) {
    const reading = readByConventions(trace.spans, ["*"]);
    // A trace counts for the convention of most of its spans.
    const names = reading?.spans.flatMap(({ convention }) => convention ?? []) ?? [];
    const name = mostFrequent(names);
    if (name === undefined) continue;
    recorded.add(name);
    for (const column of givenBy(trace, name)) found.get(name)!.add(column);
  }
  const rows = presets.map(({ name, title, writes }) => [
    title,
    code(name),
    writes,
    ...columns.map(column =>
      !recorded.has(name) ? "not recorded" : found.get(name)!.has(column) ? "yes" : "–",
    ),
  ]);
  return table(["Convention", "Name", "Written by", ...columns.map(column => headings[column])], rows);
}

/** How each is told to write messages. */
export function switchTable(): string {
  const switches = presets.flatMap(preset => preset.contentSwitches.map(one => shownSwitch(preset, one)));
  const rows = new Map(switches.map(one => [one.text + one.writtenBy, one]));
  return table(
    ["Written by", "Messages", "Set"],
    [...rows.values()].map(({ writtenBy, text, lines }) => [
      writtenBy,
      text,
      lines.map(code).join("<br>") || "–",
    ]),
  );
}

function givenBy(trace: MergedTrace, name: string): Column[] {
  const reading = readByConventions(trace.spans, [name]);
  const { userInput, responseText, toolCalls, tokens } = derive(trace, undefined, reading);
  const { model, conversationId, userId } = identityOf(trace.spans, reading);
  const given: Record<Column, boolean> = {
    input: userInput !== null,
    reply: responseText !== null,
    tools: toolCalls.some(call => call.arguments !== null),
    results: toolCalls.some(call => (call.result ?? null) !== null),
    tokens: tokens.total !== null,
    model: model !== null,
    finish: reading!.spans.some(one => one.finishReasons !== null),
    conversation: conversationId !== null,
    user: userId !== null,
  };
  return columns.filter(column => given[column]);
}

function mostFrequent(names: string[]): string | undefined {
  const counts = Map.groupBy(names, name => name);
  return [...counts].sort(([, a], [, b]) => b.length - a.length)[0]?.[0];
}
