// README and docs/: what is generated equals the code, links lead somewhere, and JSON and YAML blocks are what they say.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { generatedPages } from "../../scripts/docs.ts";
import { variableNames } from "../../src/config/environment.ts";
import { JudgeCall, JudgeTrial } from "../../src/http/judge/schemas.ts";
import { dropReasons } from "../../src/model/ingestion.ts";
import { againRefusals } from "../../src/model/run/tests-again.ts";
import { parseTestCase } from "../../src/model/test-case/test-case.ts";
import { blocksOf, readPages, root } from "./pages.ts";

const pages = readPages();

test("the generated parts of docs/ are what the code says; npm run docs writes them", async () => {
  for (const { path, text } of await generatedPages()) {
    assert.equal(readFileSync(path, "utf8"), text, `${relative(root, path)} is out of date: npm run docs`);
  }
});

/** As GitHub makes it of a heading. */
function anchorOf(heading: string): string {
  return heading
    .replaceAll(/\[(.+?)\]\(.*?\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}

test("every link to a page, a heading or a picture of this project leads there", () => {
  const anchors = new Map(
    pages.map(({ name, text }) => [
      name,
      [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!)),
    ]),
  );
  const dead: string[] = [];
  for (const { name, text } of pages) {
    const prose = text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "").replaceAll(/`[^`\n]*`/g, "");
    for (const [, target] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target!)) continue;
      const [path, anchor] = target!.split("#");
      const file = path ? join(dirname(name), path) : name;
      const isThere =
        existsSync(join(root, file)) && (!anchor || (anchors.get(file)?.includes(anchor) ?? false));
      if (!isThere) dead.push(`${name}: ${target}`);
    }
  }
  assert.deepEqual(dead, []);
});

test("README links to every page of docs/", () => {
  const readme = pages.find(({ name }) => name === "README.md")!.text;
  const unlinked = pages.filter(({ name }) => /^docs\/[^/]+$/.test(name) && !readme.includes(`(${name})`));
  assert.deepEqual(
    unlinked.map(({ name }) => name),
    [],
  );
});

test("every JSON block parses, and every test case in one is valid", () => {
  let testCases = 0;
  for (const { place, language, text } of pages.flatMap(blocksOf)) {
    if (language !== "json" || text.includes("…")) continue;
    assert.doesNotThrow(() => JSON.parse(text), place);
    const document = JSON.parse(text);
    if (!Array.isArray(document.assertions)) continue;
    assert.doesNotThrow(() => parseTestCase(document), place);
    testCases += 1;
  }
  assert.ok(testCases >= 2);
});

test("docs/api.md names each reason, fault, kind and state in its section", () => {
  const api = pages.find(({ name }) => name === "docs/api.md")!.text;
  const sections = new Map(
    api.split(/^## /m).map(text => [text.slice(0, text.indexOf("\n")), text] as const),
  );
  const named: [section: string, names: readonly string[]][] = [
    ["Waiting runs and an unavailable judge", againRefusals],
    ["The ingestion log", dropReasons],
    ["A project's judge", JudgeTrial.shape.fault.unwrap().options],
    ["The judge", [...JudgeCall.shape.kind.options, ...JudgeCall.shape.state.options]],
  ];
  for (const [section, names] of named) {
    const missing = names.filter(name => !sections.get(section)!.includes(`\`${name}\``));
    assert.deepEqual(missing, [], section);
  }
});

test("every variable in compose.yaml, README and docs/ is one that the service reads", () => {
  const known = new Set([
    ...variableNames,
    "SVC_TOKEN",
    "SVC_TEST_DATABASE_URL",
    "SVC_TEST_CHROMIUM",
    "SVC_TEST_CITUS_URL",
    "SVC_JUDGE_",
  ]);
  const texts = [...pages, { name: "compose.yaml", text: readFileSync(join(root, "compose.yaml"), "utf8") }];
  for (const { name, text } of texts) {
    const unknown = [...text.matchAll(/\bSVC_[A-Z_]+/g)]
      .map(([variable]) => variable)
      .filter(one => !known.has(one));
    assert.deepEqual(unknown, [], name);
  }
});

test("compose.yaml passes on every variable that is not about folders, addresses or the database", () => {
  const compose = readFileSync(join(root, "compose.yaml"), "utf8");
  const own =
    /^(?:PORT|DATABASE_URL|SVC_HOST|SVC_DATA_DIR|SVC_DASHBOARD_DIR|SVC_DATABASE_(?:POOLER|DIRECT_URL))$/;
  const missing = variableNames.filter(
    name => !own.test(name) && !compose.includes(`  ${name}: \${${name}:-`),
  );
  assert.deepEqual(missing, []);
});
