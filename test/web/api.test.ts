// Answers of a broken network: a connection that breaks off is no crash, and a request that was aborted is no failure.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { ask, Failed, read, readStart } from "../../web/api.ts";

/** A response that sends some text, and then breaks off or waits until it is aborted. */
function respond(t: TestContext, text: string, then: "ends" | "breaks off" | "waits"): void {
  t.mock.method(globalThis, "fetch", async (_path: string, { signal }: RequestInit) => {
    const start = (body: ReadableStreamDefaultController) => {
      body.enqueue(new TextEncoder().encode(text));
      signal?.addEventListener("abort", () => body.error(signal.reason));
    };
    // A second chunk: an error at once would drop the first.
    const pull = (body: ReadableStreamDefaultController) => {
      if (then === "ends") body.close();
      if (then === "breaks off") body.error(new TypeError("network error"));
    };
    return new Response(new ReadableStream({ start, pull }, { highWaterMark: 0 }));
  });
}

const open = () => new AbortController().signal;

test("an answer that breaks off is a failure of the network, which queries try again", async t => {
  respond(t, '{"items":[', "breaks off");
  const answer = await ask("POST", "/api/x", { body: {} });
  assert.equal(!answer.ok && answer.failure.code, "OFFLINE");
  const isOffline = (error: unknown) => error instanceof Failed && error.failure.code === "OFFLINE";
  await assert.rejects(read("/api/x", open()), isOffline);
  await assert.rejects(readStart("/api/x", 100, open()), isOffline);
});

test("an answer that is no JSON came from something else", async t => {
  respond(t, "<html>", "ends");
  const answer = await ask("GET", "/api/x");
  assert.equal(!answer.ok && answer.failure.code, "UNREADABLE");
});

test("a request that is aborted while its answer arrives throws", async t => {
  respond(t, '{"items":[', "waits");
  for (const start of [
    (signal: AbortSignal) => ask("POST", "/api/x", { body: {}, signal }),
    (signal: AbortSignal) => readStart("/api/x", 100, signal),
  ]) {
    const aborting = new AbortController();
    const answer = start(aborting.signal);
    setImmediate(() => aborting.abort());
    await assert.rejects(answer, { name: "AbortError" });
  }
});
