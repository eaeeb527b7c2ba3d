// The error of a failed span, wherever its instrumentation writes it.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Span } from "../../../src/model/trace/trace.ts";
import { errorOf } from "../../../src/reading/span/span-error.ts";
import { makeSpan } from "../../model/make-trace.ts";

const exception = (attributes: unknown) => ({ name: "exception", attributes });
const failed = (fields: Partial<Span>) => errorOf(makeSpan("a", { status: { code: 2 }, ...fields }));

test("the message of the status goes before the exception, and that before attributes", () => {
  const events = [exception({ "exception.type": "TimeoutError", "exception.message": "too slow" })];
  const attributes = { "error.type": "500", "error.message": "broken" };
  assert.equal(failed({ status: { code: 2, message: "down" }, events, attributes }), "down");
  assert.equal(failed({ events, attributes }), "TimeoutError: too slow");
  assert.equal(failed({ attributes }), "500: broken");
  assert.equal(failed({ attributes: { "error.type": "500" } }), "500");
  assert.equal(failed({ attributes: { "langfuse.observation.status_message": "rejected" } }), "rejected");
  assert.equal(failed({ status: { code: 2, message: " " }, attributes }), "500: broken");
});

test("of several exceptions the last counts", () => {
  const events = [exception({ "exception.message": "first" }), exception({ "exception.message": "last" })];
  assert.equal(failed({ events }), "last");
});

test("an exception or an error attribute is no error unless the status says that the span failed", () => {
  const events = [exception({ "exception.message": "handled" })];
  for (const status of [null, {}, { code: 0 }, { code: 1, message: "fine" }]) {
    assert.equal(errorOf(makeSpan("a", { status, events, attributes: { "error.type": "500" } })), null);
  }
});

test("hostile events and attributes give no error, and long ones are shortened", () => {
  for (const event of [null, 7, {}, exception(null), exception({ "exception.message": { deep: 1 } })]) {
    assert.equal(failed({ events: [event] }), null);
  }
  assert.equal(failed({ attributes: { "error.message": "x".repeat(9_000) } })!.length, 500);
  assert.equal(failed({ status: { code: 2, message: "a\u0000b" } }), "a\uFFFDb");
});
