// Properties of an agent's own rules, on recorded traces whose attributes are replaced by hostile values.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type ConventionRule, ruleTargets } from "../../../src/model/agent/read-by.ts";
import { mergeBatches } from "../../../src/model/trace/merge.ts";
import type { Span } from "../../../src/model/trace/trace.ts";
import { readTraceBy } from "../../../src/reading/conventions/read-by.ts";
import { transcribe } from "../../../src/reading/conversation/transcript.ts";
import { columnsOf } from "../../../src/reading/derived/columns.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { identityOf } from "../../../src/reading/derived/identity.ts";
import { ownRules } from "../../../src/reading/span/sources.ts";
import { makeBatch } from "../../model/make-trace.ts";
import { has, hostileSpans, isThere, readAll, recorded } from "./hostile-traces.ts";

/** Spans with rules that match some of them, and conventions. */
const withRules = (spans: Span[]) => {
  const keys = [...new Set(spans.flatMap(span => Object.keys(span.attributes)))];
  const names = [...new Set(spans.map(({ name }) => name))];
  const rule = fc.record(
    {
      from: fc.constantFrom(
        "x",
        ...keys,
        ...keys.flatMap(key => /^.+?\.(?=\d)/.exec(key)?.[0].concat("*") ?? []),
      ),
      to: fc.constantFrom(...ruleTargets),
      spanName: fc.constantFrom(...names, ...names.map(name => `${name.slice(0, 3)}*`)),
    },
    { requiredKeys: ["from", "to"], noNullPrototype: true },
  );
  const conventions = fc.constantFrom<string[]>(["*"], ["openinference", "openllmetry"], []);
  return fc.tuple(fc.constant(spans), fc.array(rule, { minLength: 1, maxLength: 20 }), conventions);
};

const ruledSpans = hostileSpans.chain(withRules);

test("with any rules, nothing is thrown, and what a rule gives is on its span and from an attribute of it", () => {
  fc.assert(
    fc.property(ruledSpans, ([spans, rules, conventions]) => {
      const before = JSON.stringify(spans);
      const { trace, reading, translated, derived } = readAll(spans, rules, conventions);
      transcribe(translated);
      assert.equal(JSON.stringify(spans), before);
      const sent = new Map(spans.map(span => [span.span_id, span]));
      for (const span of translated) {
        for (const [to, { attribute, convention }] of Object.entries(span.translated ?? {})) {
          if (convention !== ownRules) continue;
          assert.ok(attribute !== null && has(sent.get(span.span_id)!, attribute), to);
          assert.ok(
            rules.some(
              rule => rule.to === to && rule.from.replace(/\*$/, "") === attribute.replace(/\*$/, ""),
            ),
          );
        }
      }
      for (const found of [derived.userInput, derived.judgedText]) {
        const span = found && trace.spans.find(one => one.span_id === found.spanId);
        assert.ok(!found || span);
      }
      for (const found of reading ? [reading.userInput, reading.reply, reading.conversationId] : []) {
        if (found) assert.ok(isThere(found, trace.spans), JSON.stringify(found));
      }
    }),
    { numRuns: 300 },
  );
});

test("with any rules, neither the order of spans nor their batches have an effect", () => {
  fc.assert(
    fc.property(ruledSpans, fc.nat(), ([spans, rules, conventions], place) => {
      const cut = place % (spans.length + 1);
      const batches = [makeBatch(spans.slice(cut).reverse()), makeBatch(spans.slice(0, cut).reverse())];
      const merged = mergeBatches(batches, "otlp");
      const { trace, reading } = readTraceBy(merged, { conventions, conventionRules: rules });
      const { derived, identity } = readAll(spans, rules, conventions);
      assert.deepEqual(derive(trace, undefined, reading), derived);
      assert.deepEqual(identityOf(trace.spans, reading), identity);
    }),
    { numRuns: 200 },
  );
});

test("with any rules, lists show what the trace in detail does", () => {
  fc.assert(
    fc.property(fc.constantFrom(...recorded).chain(withRules), ([spans, conventionRules, conventions]) => {
      const stored = mergeBatches([makeBatch(spans)], "otlp");
      const [all, columns] = (["all", "columns"] as const).map(depth => {
        const { trace, reading } = readTraceBy(stored, { conventions, conventionRules }, undefined, depth);
        return columnsOf(derive(trace, undefined, reading), []);
      });
      assert.deepEqual(columns, all);
    }),
    { numRuns: 200 },
  );
});

test("rules that match no span change nothing", () => {
  const rules: ConventionRule[] = ruleTargets.map(to => ({ from: "no.such.attribute", to }));
  for (const spans of recorded) assert.deepEqual(readAll(spans, rules), readAll(spans));
});
