// Properties of all conventions, on recorded traces whose attributes are replaced by hostile values.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ValueAllowance } from "../../../src/model/json-text.ts";
import { mergeBatches } from "../../../src/model/trace/merge.ts";
import { readByConventions } from "../../../src/reading/conventions/conventions.ts";
import { transcribe } from "../../../src/reading/conversation/transcript.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { identityOf } from "../../../src/reading/derived/identity.ts";
import { presets } from "../../../src/reading/presets.ts";
import { makeBatch, makeSpan, makeTrace } from "../../model/make-trace.ts";
import { has, hostileSpans, isThere, readAll, recorded } from "./hostile-traces.ts";

test("nothing is thrown, whatever the attributes are", () => {
  fc.assert(
    fc.property(hostileSpans, spans => {
      const { translated, derived } = readAll(spans);
      transcribe(translated);
      assert.equal(derived.spanCount, spans.length);
      for (const count of Object.values(derived.tokens))
        assert.ok(count === null || Number.isSafeInteger(count));
      assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
    }),
    { numRuns: 400 },
  );
});

test("every value is from a span of the trace that has its attribute or event", () => {
  fc.assert(
    fc.property(hostileSpans, spans => {
      const { reading, trace, translated } = readAll(spans);
      if (!reading) return;
      const { userInput, reply, model, provider, conversationId, userId, calls } = reading;
      const parts = calls.flatMap(call => [call.arguments, call.result]);
      for (const found of [userInput, reply, model, provider, conversationId, userId, ...parts]) {
        if (found) assert.ok(isThere(found, trace.spans), JSON.stringify(found));
      }
      for (const span of translated) {
        for (const { attribute } of Object.values(span.translated ?? {})) {
          if (attribute !== null)
            assert.ok(
              spans.some(one => has(one, attribute)),
              attribute,
            );
        }
      }
    }),
    { numRuns: 200 },
  );
});

test("neither the order of spans nor their batches have an effect", () => {
  const orders = fc.tuple(hostileSpans, fc.infiniteStream(fc.nat()));
  fc.assert(
    fc.property(orders, ([spans, numbers]) => {
      const next = () => Number(numbers.next().value);
      const shuffled = spans
        .map(span => ({ span, place: next() }))
        .sort((a, b) => a.place - b.place)
        .map(({ span }) => span);
      const cut = next() % (spans.length + 1);
      const batches = [makeBatch(shuffled.slice(0, cut)), makeBatch(shuffled.slice(cut))];
      const merged = mergeBatches(batches, "otlp");
      const reading = readByConventions(merged.spans, ["*"]);
      const { derived, identity } = readAll(spans);
      assert.deepEqual(derive(merged, undefined, reading), derived);
      assert.deepEqual(identityOf(merged.spans, reading), identity);
    }),
    { numRuns: 200 },
  );
});

test("a convention that is not chosen reads nothing, and no convention changes the stored spans", () => {
  for (const spans of recorded) {
    const before = JSON.stringify(spans);
    assert.equal(readByConventions(spans, []), null);
    readAll(spans);
    assert.equal(JSON.stringify(spans), before);
    for (const { name, marks, scope } of presets) {
      const isMarked = spans.some(
        span =>
          marks.some(mark => has(span, mark.endsWith(".") ? `${mark}*` : mark)) ||
          scope?.test(span.scope?.name ?? ""),
      );
      if (!isMarked) assert.equal(readByConventions(spans, [name]), null);
    }
  }
});

test("a trace whose texts have more values than fit on the heap is read as without conventions", () => {
  const calls = Array.from({ length: 10 }, (_, at) =>
    makeSpan(`call ${at}`, {
      attributes: {
        "openinference.span.kind": "LLM",
        "input.value": `[${"[],".repeat(100_000)}[]]`,
        "llm.token_count.prompt": 1,
      },
    }),
  );
  const allowance = new ValueAllowance();
  const few = makeTrace(calls.slice(0, 9));
  assert.equal(derive(few, allowance, readByConventions(few.spans, ["*"], allowance)).tokens.input, 9);
  assert.ok(allowance.used >= 1_800_000);
  const many = makeTrace(calls);
  assert.equal(readByConventions(many.spans, ["*"]), null);
});

test("checks of text take gen_ai.response.text before messages, also on a span that a convention recognizes", () => {
  const message = (content: string) => [{ role: "assistant", parts: [{ type: "text", content }] }];
  for (const own of [
    { "gen_ai.operation.name": "chat", "gen_ai.output.messages": message("whole reply") },
    { "openinference.span.kind": "LLM", "output.value": "whole reply", "input.value": "question" },
  ]) {
    const attributes = { ...own, "gen_ai.request.model": "gpt-4o", "gen_ai.response.text": "reply to check" };
    const trace = makeTrace([makeSpan("call", { attributes })]);
    const derived = derive(trace, undefined, readByConventions(trace.spans, ["*"]));
    assert.equal(derived.responseText?.text, "whole reply");
    assert.deepEqual(derived.judgedText, {
      text: "reply to check",
      spanId: "call",
      attribute: "gen_ai.response.text",
    });
  }
});

test("what is set on a span that no convention recognizes goes before a convention", () => {
  const root = makeSpan("root", {
    attributes: {
      "gen_ai.input.messages": [{ role: "user", content: "set by hand" }],
      "gen_ai.response.text": "reply by hand",
      "gen_ai.usage.input_tokens": 7,
    },
  });
  const call = makeSpan("call", {
    parent_span_id: "root",
    attributes: {
      "openinference.span.kind": "LLM",
      "input.value": "recorded",
      "output.value": "recorded reply",
      "llm.token_count.prompt": 100,
      "llm.model_name": "gpt-4o",
    },
  });
  const trace = makeTrace([root, call]);
  const derived = derive(trace, undefined, readByConventions(trace.spans, ["openinference"]));
  assert.equal(derived.userInput?.text, "set by hand");
  assert.equal(derived.judgedText?.text, "reply by hand");
  assert.equal(derived.tokens.input, 7);
  assert.deepEqual(derived.models, ["gpt-4o"]);
});
