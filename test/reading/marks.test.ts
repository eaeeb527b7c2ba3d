// Derived texts know their redacted places exactly: a typed "[email]" is no redaction.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PlacesOfRule } from "../../src/model/redaction.ts";
import { mergeBatches } from "../../src/model/trace/merge.ts";
import type { Passage } from "../../src/model/trace/shown.ts";
import type { MergedTrace, Span } from "../../src/model/trace/trace.ts";
import { transcribe } from "../../src/reading/conversation/transcript.ts";
import { showConversation } from "../../src/reading/conversation/view.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { markTrace, redactionsIn, unmark } from "../../src/reading/marks.ts";
import { openRedactor } from "../../src/redaction.ts";
import { makeBatch, makeSpan } from "../model/make-trace.ts";

const redactor = openRedactor(
  { builtIn: ["*"], rules: [{ name: "order", pattern: "ZQ-\\d+" }], pseudonyms: ["customer"] },
  value => `p_${Buffer.from(value).toString("hex").slice(0, 22).padStart(22, "0")}`,
)!;

function stored(spans: Span[]): MergedTrace {
  const { value, redactions } = redactor.batch(makeBatch(spans));
  return mergeBatches([{ ...value, redactions }], "canonical");
}

function passagesOf(trace: MergedTrace): Passage[] {
  const marked = markTrace(trace);
  const shown = showConversation(transcribe(trace.spans), trace.spans, marked && transcribe(marked.spans));
  return shown.turns.flatMap(turn =>
    turn.kind === "message"
      ? turn.pieces.filter(piece => piece.kind !== "media")
      : [turn.arguments, turn.result].filter(passage => passage !== null),
  );
}

/** "[email] or ‹email›": the text with its redacted places in ‹› by their rule. */
function shown(text: string, redactions: PlacesOfRule[]): string {
  const places = redactions.flatMap(({ rule, places }) => places.map(place => ({ rule, place })));
  places.sort((a, b) => b.place[0] - a.place[0]);
  return places.reduce(
    (out, { rule, place: [start, end] }) => `${out.slice(0, start)}‹${rule}›${out.slice(end)}`,
    text,
  );
}

const said = 'Is it [email] or "ann@shop.example"?\nOrder ZQ-77, [order].';
const expected = 'Is it [email] or "‹email›"?\nOrder ‹order›, [order].';
const parts = (content: string) => [{ role: "user", parts: [{ type: "text", content }] }];

const shapes: [name: string, attributes: Record<string, unknown>][] = [
  ["a plain text", { "gen_ai.prompt": said }],
  ["a list of messages", { "gen_ai.input.messages": parts(said) }],
  ["JSON text", { "gen_ai.input.messages": JSON.stringify(parts(said)) }],
  ["indented JSON text", { "gen_ai.input.messages": JSON.stringify(parts(said), null, 2) }],
  [
    "JSON text with escapes",
    { "gen_ai.input.messages": JSON.stringify(parts(said)).replaceAll("[email]", "\\u005bemail\\u005d") },
  ],
  ["a content string", { "gen_ai.input.messages": JSON.stringify([{ role: "user", content: said }]) }],
];

for (const [name, attributes] of shapes) {
  test(`redacted places in the input and the conversation of ${name}`, () => {
    const trace = stored([makeSpan("a", { attributes: { "gen_ai.request.model": "m", ...attributes } })]);
    const marked = markTrace(trace)!;
    const { text } = derive(trace).userInput!;
    assert.equal(shown(text, redactionsIn(text, derive(marked).userInput?.text)), expected);
    const [passage] = passagesOf(trace);
    assert.equal(shown(passage!.text, passage!.redactions), expected);
  });
}

test("redacted places in arguments, results, errors, pseudonyms, and joined parts", () => {
  const trace = stored([
    makeSpan("a", {
      attributes: {
        "gen_ai.tool.name": "mail",
        "gen_ai.tool.call.arguments": JSON.stringify({
          to: "ann@shop.example",
          cc: "[email]",
          at: [1, "ZQ-7"],
        }),
        "gen_ai.tool.call.result": { customer: "Ann", note: "ZQ-8 or [order]" },
      },
      status: { code: 2, message: "No mailbox ann@shop.example, said [email]" },
    }),
  ]);
  const marked = markTrace(trace)!;
  const { turns } = showConversation(transcribe(trace.spans), trace.spans, transcribe(marked.spans));
  const [turn] = turns;
  assert.ok(turn?.kind === "tool_call" && turn.arguments && turn.result && turn.error);
  assert.equal(
    shown(turn.arguments.text, turn.arguments.redactions),
    '{"to":"‹email›","cc":"[email]","at":[1,"‹order›"]}',
  );
  assert.equal(
    shown(turn.result.text, turn.result.redactions),
    '{"customer":"Ann","note":"‹order› or [order]"}',
  );
  assert.equal(shown(turn.error, turn.errorRedactions), "No mailbox ‹email›, said [email]");
});

test("a typed placeholder repeats a message in which the same was redacted", () => {
  const history = (content: string) => ({
    "gen_ai.request.model": "m",
    "gen_ai.input.messages": parts(content),
  });
  const trace = stored([
    makeSpan("a", { attributes: history("Mail ann@shop.example"), start_time_unix_nano: "1" }),
    makeSpan("b", { attributes: history("Mail [email]"), start_time_unix_nano: "3" }),
    makeSpan("c", {
      attributes: { "gen_ai.output.messages": parts("Sent to ann@shop.example") },
      start_time_unix_nano: "5",
    }),
  ]);
  const texts = passagesOf(trace).map(({ text, redactions }) => shown(text, redactions));
  assert.deepEqual(texts, ["Mail ‹email›", "Sent to ‹email›"]);
});

test("a text that has the characters of marks has no known places, and stays as it is", () => {
  const trace = stored([
    makeSpan("a", { attributes: { "gen_ai.prompt": "a\uFDD0[email]\uFDD1 ann@shop.example" } }),
  ]);
  const [passage] = passagesOf(trace);
  assert.equal(passage!.text, "a\uFDD0[email]\uFDD1 [email]");
  assert.deepEqual(passage!.redactions, []);
});

test("without redactions nothing is marked, and unmarking finds each rule's places", () => {
  assert.equal(markTrace(stored([makeSpan("a", { attributes: { "gen_ai.prompt": "[email]" } })])), null);
  assert.deepEqual(unmark("x \uFDD0[email]\uFDD1\uFDD0p_1234567890123456\uFDD1\uFDD0[email]\uFDD1"), {
    text: "x [email]p_1234567890123456[email]",
    redactions: [
      {
        rule: "email",
        places: [
          [2, 9],
          [27, 34],
        ],
      },
      { rule: "pseudonym", places: [[9, 27]] },
    ],
  });
});
