// What a judge's connection needs, by provider, and where a stored key may be sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hostOf, parseJudgeConnection } from "../../../src/model/judge/connection.ts";
import { Refusal } from "../../../src/model/refusal.ts";

const openai = { provider: "openai", model: "m", apiKey: "sk-hidden-text" };
const local = { provider: "openai_compatible", url: "http://127.0.0.1:11434/v1", model: "m" };

/** The path and message of the only error. */
function faultOf(input: unknown, was?: Parameters<typeof parseJudgeConnection>[1]): string {
  try {
    parseJudgeConnection(input, was);
  } catch (error) {
    assert.ok(error instanceof Refusal);
    assert.equal(JSON.stringify([error.message, error.issues]).includes("hidden"), false);
    assert.equal(error.issues!.length, 1);
    return `${error.issues![0]!.path}: ${error.issues![0]!.message}`;
  }
  return "none";
}

const stored = (input: object, keyUnreadable = false) => ({
  connection: parseJudgeConnection(input, undefined),
  keyUnreadable,
});

test("a provider's own service needs a key, a compatible server a URL, and the rest has defaults", () => {
  assert.deepEqual(parseJudgeConnection(openai, undefined), {
    ...openai,
    url: null,
    concurrency: 8,
    tokensPerMinute: null,
  });
  assert.equal(parseJudgeConnection(local, undefined).apiKey, null);
  assert.equal(faultOf({ ...openai, apiKey: null }), "apiKey: OpenAI needs an API key.");
  assert.equal(
    faultOf({ ...openai, provider: "anthropic", apiKey: null }),
    "apiKey: Anthropic needs an API key.",
  );
  assert.equal(faultOf({ ...local, url: null }), "url: Enter the URL of the compatible server.");
  assert.equal(faultOf({ ...openai, apiKey: null, url: "https://gateway.example.com/v1" }), "none");
});

for (const [url, fault] of [
  ["localhost:11434", /Not a valid URL/],
  ["file:///etc/passwd", /Not a valid URL/],
  ["https://user:hidden@api.example.com/v1", /user name or password/],
  ["https://api.example.com/v1#hidden", /not contain #/],
] as const) {
  test(`the URL ${url} is refused without being repeated`, () => {
    assert.match(faultOf({ ...local, url }), fault);
  });
}

test("a key that cannot be sent in a header is refused without being repeated", () => {
  assert.match(faultOf({ ...openai, apiKey: "hidden\nx-evil: 1" }), /^apiKey: Contains a character/);
});

test("a stored key is kept, replaced or removed", () => {
  const was = stored({ ...local, apiKey: "sk-hidden-text" });
  const { apiKey: _, ...unsaid } = { ...local, apiKey: undefined };
  assert.equal(parseJudgeConnection({ ...unsaid, model: "n" }, was).apiKey, "sk-hidden-text");
  assert.equal(parseJudgeConnection({ ...local, apiKey: "sk-other" }, was).apiKey, "sk-other");
  assert.equal(parseJudgeConnection({ ...local, apiKey: null }, was).apiKey, null);
});

test("a stored key is sent only to the server it was entered for", () => {
  const was = stored(openai);
  const again = "apiKey: Enter the API key again: the stored one was entered for api.openai.com.";
  assert.equal(faultOf({ provider: "openai", model: "m", url: "https://evil.example.com/v1" }, was), again);
  assert.equal(faultOf({ provider: "anthropic", model: "m" }, was), again);
  assert.equal(faultOf({ provider: "openai", model: "m", url: "https://api.openai.com/v1" }, was), "none");
  const home = stored({ ...local, apiKey: "sk-hidden-text" });
  assert.match(
    faultOf({ ...local, url: "http://127.0.0.1:11435/v1" }, home),
    /entered for 127\.0\.0\.1:11434/,
  );
});

test("a key that can no longer be read is neither kept nor dropped silently", () => {
  const was = stored(local, true);
  assert.match(faultOf(local, was), /^apiKey: The stored API key was encrypted with another key/);
  assert.equal(parseJudgeConnection({ ...local, apiKey: null }, was).apiKey, null);
});

test("the host of a connection is the provider's own, or that of its URL", () => {
  assert.equal(hostOf({ provider: "google", url: null }), "generativelanguage.googleapis.com");
  assert.equal(hostOf({ provider: "openai_compatible", url: "http://10.0.0.7:8000/v1" }), "10.0.0.7:8000");
});

test("own headers are kept by name, as long as they go to the origin they were entered for", () => {
  const typed = {
    provider: "openai_compatible",
    url: "https://gateway.example.com/v1?api-version=1",
    model: "m",
  };
  const headers = [{ name: "x-portkey-provider", value: "openai" }];
  const connection = parseJudgeConnection({ ...typed, headers }, undefined);
  assert.deepEqual(connection.headers, headers);
  const stored = { connection, keyUnreadable: false };
  assert.deepEqual(parseJudgeConnection(typed, stored).headers, headers);
  const named = [{ name: "X-Portkey-Provider" }, { name: "x-more", value: "1" }];
  assert.deepEqual(
    parseJudgeConnection({ ...typed, headers: named }, stored).headers?.map(({ value }) => value),
    ["openai", "1"],
  );
  assert.equal(parseJudgeConnection({ ...typed, headers: [] }, stored).headers, undefined);
  for (const [change, path] of [
    [{ url: "https://other.example.com/v1" }, "headers[0].value"],
    [{ headers: [{ name: "x-new" }] }, "headers[0].value"],
    [{ headers: [...headers, { name: "X-PORTKEY-PROVIDER", value: "a" }] }, "headers[1].name"],
    [{ headers: [{ name: "Host", value: "a" }] }, "headers[0].name"],
    [{ headers: [{ name: "x", value: "a\nb" }] }, "headers[0].value"],
  ] as const) {
    assert.throws(
      () => parseJudgeConnection({ ...typed, ...change }, stored),
      (error: Refusal) => error.issues![0]!.path === path && !JSON.stringify(error).includes('openai"'),
    );
  }
});
