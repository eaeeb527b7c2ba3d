// A name, a type or an id that is an object is none. JavaScript makes text of no object that has a field `toString` of its own.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attributes } from "../../../src/model/trace/trace.ts";
import { conventionNames, readByConventions } from "../../../src/reading/conventions/conventions.ts";
import { makeSpan } from "../../model/make-trace.ts";

const noText = { toString: "none", valueOf: 1 };
const model = { "gen_ai.operation.name": "chat", "gen_ai.system": "openai" };
const langChain = (made: Attributes) =>
  JSON.stringify([
    { lc: 1, ...made },
    { role: "user", content: "Hello" },
  ]);

const cases: Record<string, { attributes: Attributes; events?: unknown[] }> = {
  "the name of an event": {
    attributes: model,
    events: [{ name: noText, attributes: { content: "Hello" } }],
  },
  "the type of a LangChain message": {
    attributes: { ...model, "gen_ai.input.messages": langChain({ id: [], kwargs: { type: noText } }) },
  },
  "the id of a LangChain message": {
    attributes: { ...model, "gen_ai.input.messages": langChain({ id: [noText], kwargs: { content: "Hi" } }) },
  },
  "the operation of the Vercel AI SDK": { attributes: { "ai.operationId": noText, "ai.prompt": "Hello" } },
  "the type of a Mastra span": { attributes: { "mastra.span.type": noText, input: "Hello" } },
};

for (const [what, { attributes, events = [] }] of Object.entries(cases)) {
  test(`${what} that is an object is read as none`, () => {
    const span = makeSpan("1", { attributes, events: events as never });
    for (const names of [["*"], ...conventionNames.map(name => [name])]) {
      assert.doesNotThrow(() => readByConventions([span], names), names.join());
    }
  });
}
