// The conversation and user of a trace: as far as its spans agree, and as they are stored.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readByConventions } from "../../../src/reading/conventions/conventions.ts";
import { boundedId, idsOf } from "../../../src/reading/derived/identity.ts";
import { makeSpan } from "../../model/make-trace.ts";

const idIn = (...attributes: Record<string, unknown>[]) =>
  idsOf(
    attributes.map((one, at) => makeSpan(String(at), { attributes: one })),
    null,
  ).conversationId;

test("ids count if all spans that carry one agree, and blank ones do not count", () => {
  assert.equal(idIn({ "session.id": "s" }, {}, { "gen_ai.conversation.id": "s" }), "s");
  assert.equal(idIn({ "gen_ai.conversation.id": "c", "session.id": "s" }), "c");
  assert.equal(idIn({ "gen_ai.conversation.id": " \n", "session.id": "s" }), "s");
  assert.equal(idIn({ "session.id": "s" }, { "session.id": "t" }), null);
  assert.equal(idIn({ "session.id": "s" }, { "session.id": "s " }), null);
});

for (const conventions of [[], ["openinference"]]) {
  test(`an integer is an id by its digits, and no other value that is not text is: [${conventions}]`, () => {
    const idsIn = (...all: Record<string, unknown>[]) => {
      const spans = all.map((attributes, at) =>
        makeSpan(String(at), { attributes: { "openinference.span.kind": "LLM", ...attributes } }),
      );
      return idsOf(spans, readByConventions(spans, conventions));
    };
    const ids = { conversationId: "7", userId: "4711" };
    assert.deepEqual(idsIn({ "session.id": 7, "user.id": 4711 }), ids);
    assert.deepEqual(
      idsIn({ "session.id": 7, "user.id": "4711" }, { "session.id": "7", "user.id": 4711 }),
      ids,
    );
    assert.equal(idsIn({ "session.id": 7 }, { "session.id": 8 }).conversationId, null);
    for (const other of [7.5, true, ["7"], Number.NaN])
      assert.equal(idsIn({ "user.id": other }).userId, null);
  });
}

test("an integer in a field of JSON is an id, too", () => {
  const inField = [
    makeSpan("0", { attributes: { metadata: '{"thread_id":7}', "openinference.span.kind": "CHAIN" } }),
  ];
  assert.equal(idsOf(inField, readByConventions(inField, ["openinference"])).conversationId, "7");
});

for (const conventions of [[], ["opentelemetry"]]) {
  test(`the first key that any span has counts, if all spans that have it agree: [${conventions}]`, () => {
    const idIn = (...all: Record<string, unknown>[]) => {
      const [first, ...others] = all;
      const spans = [{ ...first, "gen_ai.operation.name": "chat" }, ...others].map((attributes, at) =>
        makeSpan(String(at), { attributes }),
      );
      const reading = readByConventions(spans, conventions);
      assert.equal(reading === null, conventions.length === 0);
      return idsOf(spans, reading).conversationId;
    };
    const [c1, c2] = [{ "gen_ai.conversation.id": "c1" }, { "gen_ai.conversation.id": "c2" }];
    const s1 = { "session.id": "s1" };
    assert.equal(idIn({ ...c1, ...s1 }, s1), "c1");
    assert.equal(idIn(s1, { ...c1, ...s1 }, s1), "c1");
    assert.equal(idIn(c1, { "session.id": "s2" }, s1), "c1");
    assert.equal(idIn({ ...c1, ...s1 }, { ...c2, ...s1 }), null);
    assert.equal(idIn(s1, { "gen_ai.conversation.id": " ", ...s1 }), "s1");
  });
}

test("a convention's own key goes before the documented ones", () => {
  const llm = { "openinference.span.kind": "LLM", "session.id": "s1" };
  const idIn = (...all: Record<string, unknown>[]) => {
    const spans = all.map((attributes, at) => makeSpan(String(at), { attributes }));
    return idsOf(spans, readByConventions(spans, ["openinference"])).conversationId;
  };
  assert.equal(idIn({ "gen_ai.conversation.id": "c1", "session.id": "s1" }, llm), "s1");
  assert.equal(idIn({ "gen_ai.conversation.id": "c1", "session.id": "s2" }, llm), null);
  assert.equal(idIn({ metadata: '{"thread_id":"t1"}', "openinference.span.kind": "CHAIN" }, llm), "s1");
});

test("an id stays as it is unless it is too long or no text column takes it; then it ends in its hash", () => {
  for (const id of ["c-1", " c ", "x".repeat(255), "\u{1F600}"]) assert.equal(boundedId(id), id);
  const long = "\u{1F600}".repeat(200);
  const others = [long, `${long}a`, "x".repeat(256), "a\0", "a\uD800", "a\uD801"];
  const stored = others.map(boundedId);
  assert.equal(new Set(stored).size, others.length);
  for (const id of stored) {
    assert.ok(id.length <= 255 && id.isWellFormed() && !id.includes("\0"), id);
    assert.equal(boundedId(id), id);
  }
});
