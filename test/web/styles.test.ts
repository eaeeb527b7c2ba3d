// Style sheets stay once they are loaded: what one page brings must not reach what another calls by the same name.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const folder = join(import.meta.dirname, "../../web/styles");
/** With every page from the start; what they define, others may say more of. */
const shared = ["tokens.css", "base.css", "ui.css", "shell.css"];

/** The classes that a selector of the sheet begins with. */
function beginnings(sheet: string): Set<string> {
  const text = readFileSync(join(folder, sheet), "utf8").replaceAll(/\/\*.*?\*\//gs, "");
  const selectors = [...text.matchAll(/([^{}]+)\{/g)].flatMap(([, list]) => list!.split(","));
  const first = selectors.map(selector => selector.trim().split(/[\s>+~]/)[0]!);
  return new Set(first.flatMap(one => [...one.matchAll(/\.([a-z][\w-]*)/g)].map(([, name]) => name!)));
}

test("a class means the same whichever pages were open before", () => {
  const common = new Set(shared.flatMap(sheet => [...beginnings(sheet)]));
  const sheetsOf = new Map<string, string[]>();
  for (const sheet of readdirSync(folder).filter(name => !shared.includes(name))) {
    for (const name of beginnings(sheet)) sheetsOf.set(name, [...(sheetsOf.get(name) ?? []), sheet]);
  }
  assert.ok(sheetsOf.size > 100);
  const claimed = [...sheetsOf].filter(([name, sheets]) => sheets.length > 1 && !common.has(name));
  assert.deepEqual(claimed, []);
});
