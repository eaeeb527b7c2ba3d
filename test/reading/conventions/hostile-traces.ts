import fc from "fast-check";
import type { ConventionRule } from "../../../src/model/agent/read-by.ts";
import { mergeBatches } from "../../../src/model/trace/merge.ts";
import type { Span } from "../../../src/model/trace/trace.ts";
import { readTraceBy } from "../../../src/reading/conventions/read-by.ts";
import { translateSpans } from "../../../src/reading/conventions/translate.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { identityOf } from "../../../src/reading/derived/identity.ts";
import type { Sourced } from "../../../src/reading/span/reading.ts";
import { makeBatch, nestedJson } from "../../model/make-trace.ts";
import { recordedTraces, recordings } from "./recordings.ts";

export const recorded = recordings.flatMap(([name]) => recordedTraces(name).map(({ spans }) => spans));

const hostile = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.jsonValue({ maxDepth: 4 }),
  fc.jsonValue({ maxDepth: 4 }).map(value => JSON.stringify(value)),
  fc.constantFrom<unknown>(
    nestedJson(201),
    nestedJson(20_000),
    '{"__proto__":{"polluted":1},"messages":{"__proto__":[]}}',
    `[${"{},".repeat(5_000)}{}]`,
    "'".repeat(50_000),
    `[${"\\'".repeat(40_000)}`,
    `{'args': ('a', None), 'kwargs': {'city': "it's"}}`,
    '"\\"[{\\\\\\"role\\\\\\":7}]\\""',
    { role: { role: [] }, content: { content: null }, tool_calls: [null, 7, { function: [] }] },
    [["human", 7], ["ai"], { lc: 1, id: 7, kwargs: { content: [[[]]] } }],
    { toString: "none", valueOf: 1 },
    [{ lc: 1, id: [{ toString: 1 }], kwargs: { type: { toString: 1 }, content: "Hi" } }],
    Number.MAX_SAFE_INTEGER,
    -1,
    1.5,
    null,
    true,
    "9007199254740993",
  ),
);

/** Keys as JSON.parse makes them: `__proto__` is an own property. */
function withValue(span: Span, key: string, value: unknown): Span {
  const attributes = { ...span.attributes };
  Object.defineProperty(attributes, key, { value, enumerable: true, configurable: true, writable: true });
  return { ...span, attributes };
}

export const hostileSpans: fc.Arbitrary<Span[]> = fc
  .tuple(
    fc.constantFrom(...recorded),
    fc.array(fc.tuple(fc.nat(), fc.nat(), hostile, fc.boolean()), { maxLength: 12 }),
  )
  .map(([spans, changes]) => {
    const changed = [...spans];
    for (const [place, at, value, isInEvent] of changes) {
      const span = changed[place % changed.length]!;
      const keys = [
        ...Object.keys(span.attributes),
        "__proto__",
        "llm.input_messages.0.__proto__.x",
        "events",
      ];
      const key = keys[at % keys.length]!;
      changed[place % changed.length] = isInEvent
        ? {
            ...span,
            events: [...span.events, { name: "gen_ai.choice", attributes: { message: value } }, value],
            log_records: [
              ...(span.log_records ?? []),
              { event_name: "gen_ai.choice", time_unix_nano: null, body: value, attributes: {} },
              {
                event_name: "gen_ai.client.inference.operation.details",
                time_unix_nano: "7",
                body: null,
                attributes: { "gen_ai.input.messages": value, "user.id": value },
              },
            ],
          }
        : withValue(span, key, value);
    }
    return changed;
  });

export function readAll(spans: Span[], conventionRules: ConventionRule[] = [], conventions = ["*"]) {
  const stored = mergeBatches([makeBatch(spans)], "otlp");
  const { trace, reading } = readTraceBy(stored, { conventions, conventionRules });
  const translated = reading ? translateSpans(trace.spans, reading) : trace.spans;
  return {
    trace,
    reading,
    translated,
    derived: derive(trace, undefined, reading),
    identity: identityOf(trace.spans, reading),
  };
}

export function isThere({ spanId, attribute }: Sourced<unknown>, spans: Span[]): boolean {
  const span = spans.find(one => one.span_id === spanId);
  return span !== undefined && has(span, attribute);
}

export function has(span: Span, attribute: string): boolean {
  const keys = Object.keys(span.attributes);
  if (attribute.endsWith("*")) return keys.some(key => key.startsWith(attribute.slice(0, -1)));
  const names = [
    ...span.events.map(event => (event as { name?: unknown } | null)?.name),
    ...(span.log_records ?? []).map(record => record.event_name),
  ];
  return keys.includes(attribute) || names.includes(attribute);
}
