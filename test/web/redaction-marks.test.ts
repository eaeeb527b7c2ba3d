// Marks of redacted places survive JSON and Markdown, and never change what a text says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Block, readMarkdown } from "../../web/markdown.ts";
import {
  markCopies,
  markFields,
  markText,
  markValue,
  partsOf,
  plainText,
  rangeInMarked,
  redactedIn,
  withoutMarks,
} from "../../web/redaction-marks.ts";

/** "Mail ‹[email]›": redacted parts in ‹›. */
const shown = (text: string) =>
  partsOf(text)
    .map(({ text, redacted }) => (redacted ? `‹${text}›` : text))
    .join("");

const text = "[email] or [email], see [email]";
const places = [{ places: [[11, 18] as [number, number]] }, { places: [[24, 31] as [number, number]] }];
const marked = markText(text, places);

test("only redacted places are marked, and a typed placeholder stays text", () => {
  assert.equal(shown(marked), "[email] or ‹[email]›, see ‹[email]›");
  assert.equal(withoutMarks(marked), text);
  assert.equal(shown(JSON.parse(JSON.stringify([marked]))[0]), shown(marked));
  assert.equal(markText(text, []), text);
  assert.equal(shown(markText(text.slice(0, 26), places)), "[email] or ‹[email]›, see [e");
});

test("plain text says in words what was redacted, and keeps a typed placeholder", () => {
  assert.equal(plainText(text, places), "[email] or [redacted: email], see [redacted: email]");
  const pseudonym = `p_${"Ab3-_z".repeat(4).slice(0, 22)}`;
  assert.equal(
    plainText(markText(`${pseudonym} and [unchecked]`, [{ places: [[0, pseudonym.length]] }])),
    "[redacted: pseudonym of an id] and [unchecked]",
  );
  assert.equal(plainText(text), text);
});

test("marks stand where the copies of a check name them by path", () => {
  const redactions = [{ path: "reasonData.comment", rule: "email", places: [[3, 10]] as [number, number][] }];
  const check = markCopies({ reason: "of [email]", reasonData: { comment: "of [email]" }, redactions });
  assert.equal(shown(check.reasonData.comment), "of ‹[email]›");
  assert.equal(shown(check.reason), "of [email]");
});

test("a text that is cut anywhere shows no part of a mark", () => {
  for (let end = 0; end <= marked.length; end++) {
    const said = partsOf(`${marked.slice(0, end)}…`).map(part => part.text);
    assert.match(said.join(""), /^[^\uFDD0-\uFDEF]*…$/);
    assert.ok(text.startsWith(said.join("").slice(0, -1)));
    const rest = partsOf(marked.slice(end)).map(part => part.text);
    assert.ok(text.endsWith(rest.join("")));
  }
});

test("a range of a text covers the same words with marks", () => {
  for (const range of [
    [0, 7],
    [11, 18],
    [8, 31],
    [19, 31],
    [0, 3],
  ] as [number, number][]) {
    const [from, to] = rangeInMarked(marked, range);
    assert.equal(withoutMarks(marked.slice(from, to)), text.slice(...range));
  }
});

test("values are marked by the paths that redactions tell", () => {
  const redactions = ["a.b", "list[1].text", 'list[0]["a key"]', "__proto__"].map(path => ({
    spanId: "s",
    in: "attributes" as const,
    path,
    rule: "email",
    places: [[0, 7] as [number, number]],
  }));
  const attributes = {
    "a.b": "[email]",
    list: [{ "a key": "[email]" }, { text: "[email]", other: "[email]" }, 7, null],
    ["__proto__"]: "[email]",
  };
  const value = markFields(attributes, redactedIn(redactions, "attributes"));
  assert.deepEqual(JSON.parse(withoutMarks(JSON.stringify(value))), JSON.parse(JSON.stringify(attributes)));
  assert.equal(shown(value["a.b"]), "‹[email]›");
  const [first, second] = value.list as Record<string, string>[];
  assert.equal(shown(first!["a key"]!), "‹[email]›");
  assert.deepEqual([shown(second!["text"]!), shown(second!["other"]!)], ["‹[email]›", "[email]"]);
  assert.equal(markValue(attributes, "", redactedIn(redactions, "events")), attributes);
});

test("in Markdown, marks leave markup and links as they are", () => {
  const said = "**To [email]** at https://x.example/[email]";
  const at = said.indexOf("[email]");
  const link = said.lastIndexOf("[email]");
  const blocks = readMarkdown(
    markText(said, [
      {
        places: [
          [at, at + 7],
          [link, link + 7],
        ],
      },
    ]),
  );
  const [paragraph] = blocks as [Extract<Block, { kind: "paragraph" }>];
  const [strong, , url] = paragraph.children;
  assert.ok(strong?.kind === "strong" && strong.children[0]?.kind === "text");
  assert.equal(shown(strong.children[0].text), "To ‹[email]›");
  assert.ok(url?.kind === "link");
  assert.match(url.href, /^https:\/\/x\.example\/(?:\[email\]|%5Bemail%5D)?$/);
});
