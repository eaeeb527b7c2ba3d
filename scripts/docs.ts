// Writes the generated parts of docs/ from the code: variables, limits, error codes, assertion fields and examples.
//
//   npm run docs
//
// A generated part is between the lines "<!-- npm run docs: NAME -->" and "<!-- end -->". test/docs/pages.test.ts
// fails if a page differs from the code.

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { assertionReference } from "./docs/assertions.ts";
import { keptTable } from "./docs/content.ts";
import { readTable, switchTable } from "./docs/conventions.ts";
import { conventionTable } from "./docs/frameworks.ts";
import { guideTable, guideTexts } from "./docs/guides.ts";
import { limitTables } from "./docs/limits.ts";
import { callErrorTable, codeTable, noticeTable, notRunTable, skippedTable } from "./docs/troubleshooting.ts";
import { variableTable } from "./docs/variables.ts";

const root = join(import.meta.dirname, "..");

if (process.argv[1] === import.meta.filename) {
  for (const { path, text } of await generatedPages()) writeFileSync(path, text);
}

/** Every page of docs/ with its generated parts updated. Throws if a part is on no page. */
export async function generatedPages(): Promise<{ path: string; text: string }[]> {
  const parts = new Map([
    ["variables", variableTable()],
    ["limits", limitTables()],
    ["conventions", conventionTable()],
    ["conventions read", readTable()],
    ["kept attributes", keptTable()],
    ["content switches", switchTable()],
    ["guides", guideTable()],
    ["guide texts", guideTexts()],
    ["codes", codeTable()],
    ["notices", noticeTable()],
    ["not run", notRunTable()],
    ["skipped", skippedTable()],
    ["call errors", callErrorTable()],
    ["assertions", await assertionReference()],
  ]);
  const unused = new Set(parts.keys());
  const pages = globSync("docs/*.md", { cwd: root }).sort();
  const written = pages.map(name => {
    const path = join(root, name);
    const text = readFileSync(path, "utf8").replace(
      /(<!-- npm run docs: (.+?) -->\n)[\s\S]*?(<!-- end -->)/g,
      (_whole, begin: string, part: string, end: string) => {
        unused.delete(part);
        return `${begin}\n${parts.get(part)}\n\n${end}`;
      },
    );
    return { path, text };
  });
  if (unused.size > 0) throw new Error(`No page of docs/ has the generated part: ${[...unused].join(", ")}`);
  return written;
}
