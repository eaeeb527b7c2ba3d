// Reads README and docs/: their code blocks, links and headings.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "../..");

export type Block = {
  /** The page and line, for messages. */
  place: string;
  language: string;
  text: string;
  /** The reason in a comment before the block, `<!-- not run: reason -->`; undefined for a block that a test runs. */
  notRun: string | undefined;
};

export type Page = { name: string; text: string };

export function readPages(): Page[] {
  const names = globSync(["*.md", "docs/*.md", "docs/decisions/*.md"], { cwd: root }).sort();
  return names.map(name => ({ name, text: readFileSync(join(root, name), "utf8") }));
}

export function blocksOf({ name, text }: Page): Block[] {
  const pattern = /(?:<!-- not run: (.+?) -->\n+)?^( *)```(\w*)\n([\s\S]*?)^ *```$/gm;
  return [...text.matchAll(pattern)].map(({ 1: notRun, 2: indent, 3: language, 4: body, index }) => ({
    place: `${name}:${text.slice(0, index).split("\n").length}`,
    language: language!,
    text: body!.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    notRun,
  }));
}
