// Makes spans and traces for tests of the model, and arbitrary ones for property tests.
import fc from "fast-check";
import type { Attributes, Batch, MergedTrace, Span, TracePath } from "../../src/model/trace/trace.ts";

export function makeSpan(id: string, fields: Partial<Span> = {}): Span {
  return {
    span_id: id,
    parent_span_id: null,
    name: id,
    attributes: {},
    start_time_unix_nano: null,
    end_time_unix_nano: null,
    status: null,
    events: [],
    ...fields,
  };
}

export function makeBatch(spans: Span[], fields: Partial<Batch> = {}): Batch {
  return { spans, resource: null, metadata: null, ...fields };
}

export function makeTrace(spans: Span[], path: TracePath = "canonical"): MergedTrace {
  return { ...makeBatch(spans), path };
}

/** The structure of `[]` nested this many levels deep, as JSON text. */
export function nestedJson(levels: number): string {
  return "[".repeat(levels) + "]".repeat(levels);
}

const hostileText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("", " ", "\u0000", "\ud800", "__proto__", "constructor", "[", "[]", "{}", "null", "1e400"),
  fc.constantFrom(nestedJson(201), nestedJson(20_000), '{"__proto__":{"polluted":1}}'),
);

const plainRecord = { noNullPrototype: true };

const messages = fc.array(
  fc.record(
    {
      role: fc.constantFrom("user", "assistant", "system", "tool", "", null, 7),
      parts: fc.oneof(
        fc.jsonValue(),
        fc.array(
          fc.record({ type: fc.constantFrom("text", "reasoning"), content: hostileText }, plainRecord),
        ),
      ),
      content: fc.oneof(hostileText, fc.jsonValue()),
    },
    { requiredKeys: [], ...plainRecord },
  ),
);

const value = fc.oneof(
  hostileText,
  fc.jsonValue(),
  messages,
  messages.map(list => JSON.stringify(list)),
  fc.constantFrom(undefined, null, 0, -1, 12, 1.5, "12", "-3", "9007199254740993", 1e21, 200, "404", true),
);

const wellKnown = [
  "gen_ai.output.messages",
  "gen_ai.response.text",
  "gen_ai.input.messages",
  "gen_ai.prompt",
  "gen_ai.system",
  "gen_ai.request.model",
  "gen_ai.operation.name",
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.output_tokens",
  "gen_ai.usage.reasoning.output_tokens",
  "gen_ai.tool.name",
  "gen_ai.tool.call.arguments",
  "http.response.status_code",
  "llm.input_messages.0.message.content",
  "ai.prompt.messages",
];

const key = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...wellKnown) },
  { weight: 1, arbitrary: fc.oneof(hostileText, fc.constantFrom("toString", "hasOwnProperty")) },
);

/** Attributes as JSON.parse creates them: every key is an own property, even `__proto__`. */
const attributes: fc.Arbitrary<Attributes> = fc.array(fc.tuple(key, value), { maxLength: 8 }).map(entries => {
  const made: Attributes = {};
  for (const [name, content] of entries) {
    Object.defineProperty(made, name, {
      value: content,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return made;
});

const nanos = fc.oneof(
  fc.constant(null),
  fc.integer({ min: 0, max: 5 }).map(String),
  fc.constantFrom("9", "10", "007", "18446744073709551615", "99999999999999999999", "", "-1", "1e9", "soon"),
);

const spanId = fc.oneof(
  fc.constantFrom("a", "b", "c", "d", "e", "f", "__proto__", "constructor"),
  hostileText,
);

export const arbitrarySpan: fc.Arbitrary<Span> = fc.record(
  {
    span_id: spanId,
    parent_span_id: fc.option(spanId),
    name: hostileText,
    attributes,
    start_time_unix_nano: nanos,
    end_time_unix_nano: nanos,
    status: fc.option(fc.record({ code: fc.constantFrom(0, 1, 2, 99), message: hostileText }, plainRecord)),
    events: fc.constant([]),
  },
  plainRecord,
);

export const arbitraryPath: fc.Arbitrary<TracePath> = fc.constantFrom("canonical", "otlp");
