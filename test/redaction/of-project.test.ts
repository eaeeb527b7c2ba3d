// What is kept of a project's rules to redact by: compiled once for a revision, and never used for other rules.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoringRules } from "../../src/model/privacy.ts";
import { redactorOf } from "../../src/redaction/of-project.ts";

const rulesOf = (more: Partial<StoringRules> = {}): StoringRules => ({
  projectId: "a project of this test",
  revision: 4,
  rules: { builtIn: ["email"], rules: [], pseudonyms: [] },
  pseudonymKey: "one",
  ...more,
});

test("a redactor is compiled once for a revision, and again if the same revision has other rules or another key", () => {
  const first = redactorOf(rulesOf());
  assert.equal(redactorOf(rulesOf()), first);
  const text = "jane@example.com, 203.0.113.7";
  assert.equal(first!.text(text).text, "⟦email⟧, 203.0.113.7");
  const others = { builtIn: ["ip"], rules: [], pseudonyms: ["user.id"] };
  assert.equal(redactorOf(rulesOf({ rules: others }))!.text(text).text, "jane@example.com, ⟦ip⟧");
  const idBy = (pseudonymKey: string | null) =>
    redactorOf(rulesOf({ rules: others, pseudonymKey }))!.resource({ "user.id": "jane" }).value["user.id"];
  assert.notEqual(idBy("one"), idBy("another"));
  assert.throws(() => idBy(null), { code: "UNAVAILABLE" });
});
