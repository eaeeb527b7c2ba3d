// Secrets are found wherever they stand, and looking for them takes no time that somebody chose.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cutOut } from "../../../src/remote/agent/redact-secrets.ts";

test("each place is found that replaceAll finds, also of what overlaps itself", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "ab", "aab"), maxLength: 60 });
  const secret = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(text, secret, (said, hidden) => {
      assert.equal(cutOut([hidden], said), said.replaceAll(hidden, "[secret]"));
    }),
    { numRuns: 2_000 },
  );
});

test("secrets and a text that are alike for long are told apart, in a time that they do not multiply", () => {
  // As long that comparing them from each character anew would take longer than a file of tests may.
  const secrets = Array.from({ length: 5 }, (_, at) => `${"a".repeat(4_000 - at)}b${"a".repeat(3_900)}`);
  const text = "a".repeat(20_000_000);
  assert.ok(cutOut(secrets, text) === text);
});
