// The guides of Get started: complete, each with its own link, and with a convention that exists.
import assert from "node:assert/strict";
import { test } from "node:test";
import { conventionNames } from "../../src/reading/conventions/conventions.ts";
import { programText, ranWith, shellText } from "../../web/pages/start/guides/guide.ts";
import { guides } from "../../web/pages/start/guides/guides.ts";

test("every guide has its own link and names a convention that exists, or none", () => {
  const ids = guides.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  for (const { id, convention } of guides) {
    assert.ok(convention === null || conventionNames.includes(convention), `${id}: ${convention}`);
  }
});

test("a guide that tests run has a program and the version of each package; another says why not", () => {
  for (const guide of guides) {
    const versions = Object.values(guide.packages);
    if (guide.notRun === undefined) {
      assert.ok(guide.example !== undefined && versions.length > 0 && !versions.includes(null), guide.id);
      assert.ok(programText(guide).startsWith(guide.setup));
      assert.doesNotMatch(ranWith(guide)!, /null/);
    } else {
      assert.equal(ranWith(guide), null);
      assert.deepEqual(versions.filter(Boolean), [], guide.id);
    }
  }
});

test("the lines for the shell are quoted, also a hostile service name", () => {
  const guide = guides.find(({ id }) => id === "python-strands")!;
  const text = shellText(guide, { origin: "https://o.example", key: "svc_1", serviceName: "it's $HOME" });
  assert.ok(text.startsWith("pip install 'strands-agents[openai,otel]'\n"));
  assert.ok(text.includes("export OTEL_EXPORTER_OTLP_TRACES_HEADERS='x-api-key=svc_1'\n"));
  assert.ok(text.includes(`export OTEL_SERVICE_NAME='it'\\''s $HOME'\n`));
});
