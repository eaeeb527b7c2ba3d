// Markdown from traces: the fixed set of elements, and what stays text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Block, type Inline, readMarkdown } from "../../web/markdown.ts";

/** The elements in brackets, with their texts. */
function shape(blocks: Block[] | null): string | null {
  return blocks?.map(blockShape).join(" ") ?? null;
}

function blockShape(block: Block): string {
  switch (block.kind) {
    case "paragraph":
      return `p(${inlineShape(block.children)})`;
    case "heading":
      return `h${block.level}(${inlineShape(block.children)})`;
    case "code":
      return `pre(${block.text})`;
    case "quote":
      return `quote(${shape(block.blocks)})`;
    case "list":
      return `${block.start === null ? "ul" : `ol${block.start}`}(${block.items.map(shape).join("; ")})`;
    case "table":
      return `table(${[block.head, ...block.rows].map(row => row.map(inlineShape).join("|")).join("; ")})`;
    case "rule":
      return "rule";
  }
}

function inlineShape(children: Inline[]): string {
  return children
    .map(one => {
      switch (one.kind) {
        case "text":
          return one.text;
        case "break":
          return "/";
        case "code":
          return `code(${one.text})`;
        case "link":
          return `a(${inlineShape(one.children)} -> ${one.href} as ${one.target})`;
        default:
          return `${one.kind}(${inlineShape(one.children)})`;
      }
    })
    .join("");
}

const table: [text: string, shape: string | null][] = [
  ["Just text.", null],
  ["Two\nlines & <3 of them\n\nand more", null],
  ["", null],
  ["## Hi", "h2(Hi)"],
  ["a **b** *c* ~~d~~ `e`", "p(a strong(b) em(c) del(d) code(e))"],
  ["a\n**b**", "p(a/strong(b))"],
  ["3. a\n4. b\n   - c", "ol3(p(a); p(b) ul(p(c)))"],
  ["> a\n> **b**", "quote(p(a/strong(b)))"],
  ['```json\n{"a": "<b>"}\n```', 'pre({"a": "<b>"})'],
  ["|a|b|\n|-|-|\n|1|*2*|", "table(a|b; 1|em(2))"],
  ["---", "rule"],
  ["`<img src=x onerror=alert(1)>`", "p(code(<img src=x onerror=alert(1)>))"],
  ["- [x] done\n- [ ] open", "ul(p(☑) p(done); p(☐) p(open))"],
  // Links lead only where they say.
  ["[a](https://example.com/b?c=1#d)", "p(a(a -> https://example.com/b?c=1#d as example.com/b?c=1#d))"],
  ["[a](http://example.com)", "p(a(a -> http://example.com/ as http://example.com))"],
  ["<https://example.com>", "p(a(https://example.com -> https://example.com/ as example.com))"],
  ["[a](mailto:a@example.com)", "p(a(a -> mailto:a@example.com as a@example.com))"],
  ["[bank](https://bаnk.example)", "p(a(bank -> https://xn--bnk-6cd.example/ as xn--bnk-6cd.example))"],
  ["**x** [a](https://bank.example@evil.example)", "p(strong(x) [a](https://bank.example@evil.example))"],
  ["**x** [a](javascript:alert(1))", "p(strong(x) [a](javascript:alert(1)))"],
  ["**x** [a](JaVaScRiPt:alert(1))", "p(strong(x) [a](JaVaScRiPt:alert(1)))"],
  ["**x** [a](java&#115;cript:alert)", "p(strong(x) [a](java&#115;cript:alert))"],
  ["**x** [a](data:text/html,hi)", "p(strong(x) [a](data:text/html,hi))"],
  ["**x** [a](//evil.example)", "p(strong(x) [a](//evil.example))"],
  ["**x** [a](/api/traces)", "p(strong(x) [a](/api/traces))"],
  ["**x** <javascript:alert(1)>", "p(strong(x) <javascript:alert(1)>)"],
  // No raw HTML and no images.
  ["**x** <b onclick=alert(1)>y</b>", "p(strong(x) <b onclick=alert(1)>y</b>)"],
  ["**x**\n\n<script>alert(1)</script>", "p(strong(x)) p(<script>alert(1)</script>)"],
  ["**x** ![a](https://example.com/a.png)", "p(strong(x) ![a](https://example.com/a.png))"],
  [
    "[![a](https://e.com/a.png)](https://e.com)",
    "p(a(![a](https://e.com/a.png) -> https://e.com/ as e.com))",
  ],
];

for (const [text, expected] of table) {
  test(`${JSON.stringify(text)}: ${expected}`, () => assert.equal(shape(readMarkdown(text)), expected));
}

test("hostile texts are read quickly, or stay text", () => {
  const units = [
    "[",
    "![",
    "*a ",
    "_",
    "`",
    ">",
    "> ",
    "- ",
    "<a ",
    "|",
    "**a",
    "[a](",
    "&",
    "~",
    "\\",
    "1. ",
    "  ",
    "a_b*",
  ];
  for (const unit of units) {
    const before = process.cpuUsage().user;
    readMarkdown(`**x** ${unit.repeat(Math.floor(9_900 / unit.length))}`);
    readMarkdown(unit.repeat(Math.floor(9_900 / unit.length)));
    const ms = (process.cpuUsage().user - before) / 1_000;
    assert.ok(ms < 2_000, `${unit}: ${ms} ms`);
  }
});

test("a text that is nested deeply, or long, stays text", () => {
  assert.equal(readMarkdown(`${"> ".repeat(5_000)}a`), null);
  assert.equal(readMarkdown(`${"> ".repeat(30)}a`), null);
  assert.equal(readMarkdown("**a** ".repeat(4_000)), null);
});
