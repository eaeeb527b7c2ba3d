// The attributes that a check with missing instrumentation needs, and code that adds them.

import type { Check } from "../../../../src/model/run/run.ts";
import type { Assertion, AssertionType } from "../../../../src/model/test-case/assertion.ts";
import { type Language, languages } from "../Snippet.tsx";

/** The attributes that the check did not find, or else could not read. */
export function missingAttributes({ evidence, reasonCode }: Check): string[] {
  if (reasonCode === "unread_calls" || reasonCode === "no_messages") return callAttributes;
  const absent = evidence.filter(place => !("value" in place));
  const attributes = (absent.length > 0 ? absent : evidence).flatMap(({ attribute }) => attribute ?? []);
  return [...new Set(attributes)];
}

const callAttributes = ["gen_ai.tool.name", "gen_ai.tool.call.arguments"];

const ofTrace = "On the root span, then on every other span of the trace.";

export function whereLooked(assertion: Assertion): string {
  const target = "target_node" in assertion ? assertion.target_node : undefined;
  if (target !== undefined) return `On every span with “${target}” in its name.`;
  const places: Partial<Record<AssertionType, string>> = {
    node_call: "In the names of all spans that are not tool calls; the trace has only its root.",
    tool_call: "On the spans of tool calls, then in the messages after the user’s last one.",
    response_time: "In the start and end times of the root span, then of all spans.",
    token_limit: ofTrace,
    http_status: ofTrace,
  };
  return (
    places[assertion.type] ??
    "On the root span, then on the latest span with gen_ai.system or gen_ai.request.model, then on the latest span with a text."
  );
}

/** Per attribute an expression for it in JavaScript, in Python, and an example of its value. */
const values: Record<string, [javascript: string, python: string, example: unknown]> = {
  "http.response.status_code": ["response.status", "response.status_code", 200],
  "gen_ai.usage.input_tokens": ["usage.prompt_tokens", "usage.prompt_tokens", 321],
  "gen_ai.usage.output_tokens": ["usage.completion_tokens", "usage.completion_tokens", 45],
  "gen_ai.usage.reasoning.output_tokens": ["usage.reasoning_tokens", "usage.reasoning_tokens", 12],
  "gen_ai.response.text": ["reply", "reply", "Your order is on its way."],
  "gen_ai.tool.name": ["tool.name", "tool.name", "lookup_order"],
  "gen_ai.tool.call.arguments": ["JSON.stringify(args)", "json.dumps(args)", '{"order":1042}'],
};
const unknown: [string, string, unknown] = ["value", "value", "…"];

export function snippetOf(assertion: Assertion, attributes: string[]): Record<Language, string> {
  const { type } = assertion;
  if (type === "response_time") return timeSnippets;
  const lines = languages.map(language => [
    language,
    type === "node_call"
      ? stepSnippets[language](assertion.expected_name)
      : attributeSnippets[language](attributes),
  ]);
  return Object.fromEntries(lines);
}

const text = (value: unknown) => JSON.stringify(value);

const attributeSnippets: Record<Language, (attributes: string[]) => string> = {
  JavaScript: attributes =>
    [
      'import { trace } from "@opentelemetry/api";',
      "",
      "const span = trace.getActiveSpan();",
      ...attributes.map(name => `span?.setAttribute(${text(name)}, ${(values[name] ?? unknown)[0]});`),
    ].join("\n"),
  Python: attributes =>
    [
      "from opentelemetry import trace",
      "",
      "span = trace.get_current_span()",
      ...attributes.map(name => `span.set_attribute(${text(name)}, ${(values[name] ?? unknown)[1]})`),
    ].join("\n"),
  JSON: attributes =>
    JSON.stringify(
      { attributes: Object.fromEntries(attributes.map(name => [name, (values[name] ?? unknown)[2]])) },
      null,
      2,
    ),
};

const stepSnippets: Record<Language, (name: string) => string> = {
  JavaScript: name =>
    [
      'import { trace } from "@opentelemetry/api";',
      "",
      'const tracer = trace.getTracer("agent");',
      `await tracer.startActiveSpan(${text(name)}, async span => {`,
      "  try {",
      "    return await step();",
      "  } finally {",
      "    span.end();",
      "  }",
      "});",
    ].join("\n"),
  Python: name =>
    [
      "from opentelemetry import trace",
      "",
      'tracer = trace.get_tracer("agent")',
      `with tracer.start_as_current_span(${text(name)}):`,
      "    step()",
    ].join("\n"),
  JSON: name => JSON.stringify({ span_id: "2", parent_span_id: "1", name }, null, 2),
};

const timeSnippets: Record<Language, string> = {
  JavaScript: "// At the end of the conversation, so that its root span has an end time:\nspan.end();",
  Python: "# At the end of the conversation, so that its root span has an end time:\nspan.end()",
  JSON: JSON.stringify(
    { start_time_unix_nano: "1760000000000000000", end_time_unix_nano: "1760000001500000000" },
    null,
    2,
  ),
};
