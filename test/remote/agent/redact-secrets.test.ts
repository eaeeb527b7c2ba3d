// Secrets are found everywhere in a text, in linear time.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { redactSecrets } from "../../../src/remote/agent/redact-secrets.ts";

test("every occurrence that replaceAll finds is found, overlapping ones included", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "ab", "aab"), maxLength: 60 });
  const secret = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(text, secret, (said, hidden) => {
      assert.equal(redactSecrets([hidden], said), said.replaceAll(hidden, "[secret]"));
    }),
    { numRuns: 2_000 },
  );
});

test("a secret and a text with a long common beginning are compared in linear time", () => {
  // So long that comparing them again from each character would exceed the test file's time limit.
  const secrets = Array.from({ length: 5 }, (_, at) => `${"a".repeat(4_000 - at)}b${"a".repeat(3_900)}`);
  const text = "a".repeat(20_000_000);
  assert.ok(redactSecrets(secrets, text) === text);
});
