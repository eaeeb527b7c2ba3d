// Refuses phrases that nobody would say to a colleague, in comments, docs and texts. docs/words.md says what to write.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readPages, root } from "./docs/pages.ts";

// Where a word is also a name in code, only what can be a sentence.
const refused =
  /\b(?:from before|whoever\b(?!\|)|lacks(?= (?!has|lacks)[a-z]|\. \*)|anew|hangs on|by itself|of before|for want of|is told by|those that are)\b/i;

/** The first two name the phrases; the last is what judges were measured with. */
const exempt = ["docs/words.md", "test/words.test.ts", "src/remote/judge/prompt-texts.ts"];

const sources = "{src,web,test,scripts,bench,fuzz,torture,demo}/**/*.{ts,tsx,mjs,sql,css}";

/** As one line, without the marks of comments, and without loops: `for (const id of before)` is code. */
function textOf(content: string): string {
  return content
    .replace(/\s*\n[ \t]*(?:\/\/+|\*(?!\/)|--|#|>)?[ \t]*/g, " ")
    .replace(/\bfor (?:await )?\(const .*? of /g, "");
}

test("comments, docs and texts say it plainly", () => {
  const files = globSync(sources, { cwd: root });
  const pages = readPages().map(({ name }) => name);
  assert.ok(files.length > 1_000 && pages.length > 20);
  const found = [...files, ...pages]
    .filter(file => !exempt.includes(file))
    .map(file => ({ file, text: textOf(readFileSync(join(root, file), "utf8")) }))
    .flatMap(({ file, text }) => {
      const at = text.search(refused);
      return at === -1 ? [] : [`${file}: … ${text.slice(Math.max(0, at - 60), at + 60)} …`];
    });
  assert.deepEqual(found, []);
});
