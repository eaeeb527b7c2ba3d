// A conversation in a response: limited in size, and explicit about everything left out.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Passage } from "../../../src/model/trace/shown.ts";
import { transcribe } from "../../../src/reading/conversation/transcript.ts";
import { showConversation } from "../../../src/reading/conversation/view.ts";
import { makeSpan } from "../../model/make-trace.ts";

const said = (texts: string[]) =>
  transcribe([
    makeSpan("a", {
      attributes: { "gen_ai.input.messages": texts.map(content => ({ role: "user", content })) },
    }),
  ]);

function passageOf(texts: string[], at = 0): Passage {
  const turn = showConversation(said(texts)).turns[at]!;
  assert.ok(turn.kind === "message" && turn.pieces[0]?.kind === "text");
  return turn.pieces[0];
}

test("a long text is cut, with its full length and the location of the rest", () => {
  const { text, length, spanId, paths } = passageOf(["x".repeat(10_000)]);
  assert.equal(text.length, 8_000);
  assert.equal(length, 10_000);
  assert.equal(spanId, "a");
  assert.deepEqual(paths, [["attributes", "gen_ai.input.messages", 0, "content"]]);
  assert.equal(showConversation(said(["x".repeat(10_000)])).complete, true);
});

test("no text is cut within a character", () => {
  assert.equal(passageOf([`${"x".repeat(7_999)}😀😀`]).text.length, 7_999);
});

test("of too many turns the first and the last are kept, with the number left out", () => {
  const { turns, omitted, complete } = showConversation(
    said(Array.from({ length: 2_500 }, (_, at) => `m${at}`)),
  );
  assert.equal(turns.length, 2_000);
  assert.deepEqual(omitted, { after: 200, count: 500 });
  assert.equal(complete, false);
  const texts = turns.map(turn =>
    turn.kind === "message" && turn.pieces[0]?.kind === "text" ? turn.pieces[0].text : "",
  );
  assert.deepEqual([texts[199], texts[200], texts.at(-1)], ["m199", "m700", "m2499"]);
});

test("texts that are too long together are all shortened, and the response stays small", () => {
  const shown = showConversation(
    said(Array.from({ length: 1_000 }, (_, at) => `${at} ${"x".repeat(9_000)}`)),
  );
  assert.equal(shown.turns.length, 1_000);
  assert.ok(JSON.stringify(shown).length < 3_000_000);
});

test("an endless list of parts is cut, and marked as cut", () => {
  const parts = Array.from({ length: 100 }, (_, at) => ({ type: `t${at}` }));
  const spans = [makeSpan("a", { attributes: { "gen_ai.input.messages": [{ role: "user", parts }] } })];
  const { turns, complete } = showConversation(transcribe(spans));
  assert.equal(turns[0]?.kind === "message" && turns[0].pieces.length, 20);
  assert.equal(complete, false);
});
