// docs/security.md: every claim names a test that exists, and SECURITY.md says how to report what is missing.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "./pages.ts";

const page = readFileSync(join(root, "docs/security.md"), "utf8");

/** The points of the page by section; what is left has no tests. */
const sections = page
  .split(/^## /m)
  .slice(1)
  .map(text => ({ title: text.split("\n", 1)[0]!, points: text.split(/^- /m).slice(1) }))
  .filter(({ title }) => title !== "What is left");

test("every point of docs/security.md names the tests that hold it, and they exist", () => {
  assert.ok(sections.length >= 6);
  for (const { title, points } of sections) {
    assert.ok(points.length > 0, `${title} has no points`);
    for (const point of points) {
      const tests = [...point.matchAll(/`(test\/[^`]+)`/g)].map(([, path]) => path!);
      assert.ok(tests.length > 0, `no test is named: ${point}`);
      for (const path of tests) assert.ok(existsSync(join(root, path)), `${path} does not exist`);
    }
  }
});

test("SECURITY.md tells how to report a vulnerability in private, and leads to docs/security.md", () => {
  const policy = readFileSync(join(root, "SECURITY.md"), "utf8");
  assert.match(policy, /Report a vulnerability/);
  assert.match(policy, /\(docs\/security\.md\)/);
  assert.match(page, /\(\.\.\/SECURITY\.md\)/);
});
