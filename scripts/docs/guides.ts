// Generates the guides for frameworks of docs/frameworks.md: the lines of Get started, and what the tests ran.
import { presets } from "../../src/reading/presets.ts";
import { type Guide, installText, ownVariables, ranWith } from "../../web/pages/start/guides/guide.ts";
import { guides } from "../../web/pages/start/guides/guides.ts";
import { code, table } from "./table.ts";

export function guideTable(): string {
  const rows = guides.map(guide => [
    guide.language,
    `[${guide.title}](#${anchorOf(guide)})`,
    guide.by ?? "itself",
    guide.convention === null ? "not needed" : code(guide.convention),
    ranWith(guide) ?? `not run: ${guide.notRun}`,
  ]);
  return table(["Language", "Framework", "Spans written by", "Convention to read", "Run by our tests"], rows);
}

export function guideTexts(): string {
  return guides.map(guideText).join("\n\n");
}

function guideText(guide: Guide): string {
  const { setup, note, language } = guide;
  const shell = [
    ...installText(guide),
    ...Object.entries(ownVariables(guide, { key: "svc_…" })).map(
      ([name, value]) => `export ${name}=${value}`,
    ),
  ];
  const parts = [
    `### ${headingOf(guide)}`,
    ...(shell.length === 0 ? [] : ["<!-- not run: installs packages -->", fenced("sh", shell.join("\n"))]),
    fenced(fences[language], setup),
    ...(note === undefined ? [] : [note]),
    readText(guide),
  ];
  return parts.join("\n\n");
}

const fences = { Python: "python", Node: "js", Java: "text", ".NET": "csharp" };

function readText({ convention }: Guide): string {
  const title = presets.find(({ name }) => name === convention)?.title;
  return title === undefined ? "Checks read these spans as they are." : `Convention to read: ${title}.`;
}

function headingOf({ language, title, by }: Guide): string {
  return by === undefined ? `${title}, ${language}` : `${title}, ${language}, by ${by}`;
}

/** As GitHub makes it of the heading. */
function anchorOf(guide: Guide): string {
  return headingOf(guide)
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");
}

function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}
