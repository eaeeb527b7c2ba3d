// Which setting is named for traces whose SDK wrote no messages: the recordings as they are, and with their content taken out.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ShownSwitch } from "../../../src/model/trace/shown.ts";
import type { Attributes, MergedTrace, Span } from "../../../src/model/trace/trace.ts";
import { readTraceBy } from "../../../src/reading/conventions/read-by.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { reportOf } from "../../../src/reading/derived/report.ts";
import { makeSpan, makeTrace } from "../../model/make-trace.ts";
import { recordedTraces, recordings } from "./recordings.ts";

function report(stored: MergedTrace, conventions: string[]) {
  const by = { conventions, conventionRules: [] };
  const { trace, reading } = readTraceBy(stored, by);
  const derived = derive(trace, undefined, reading);
  return { derived, ...reportOf({ ...by, trace: stored, read: trace, reading, derived }) };
}

const switchesOf = (spans: Span[], conventions: string[] = []): ShownSwitch[] =>
  report(makeTrace(spans), conventions).contentSwitches;

/** What the recorded users, models and tools said names one of these. */
const said = /Paris|London|rainy|sunny|service is down/;

/** As ADK 1 writes what it is told to hide. */
const hiddenByAdk = { "gcp.vertex.agent.llm_request": "{}", "gcp.vertex.agent.llm_response": "{}" };

function withoutContent(trace: MergedTrace): MergedTrace {
  const kept = (attributes: Attributes) => {
    const hidden = Object.entries(hiddenByAdk).filter(([key]) => key in attributes);
    const rest = Object.entries(attributes).filter(([, value]) => !said.test(JSON.stringify(value)));
    return Object.fromEntries([...rest, ...hidden]);
  };
  return {
    ...trace,
    spans: trace.spans.map(({ log_records: _, ...span }) => ({
      ...span,
      attributes: kept(span.attributes),
      events: [],
    })),
  };
}

/** By the beginning of the recording's name. */
const writers: [recording: RegExp, writtenBy: string][] = [
  [/openinference|^86-langwatch/, "OpenInference"],
  [/haystack/, "Haystack"],
  [/claude-agent/, "Claude Code"],
  [/vercel-ai/, "Vercel AI SDK before 7"],
  [/contrib-js/, "OpenTelemetry’s instrumentations for JavaScript"],
  [/litellm-proxy-otel-v2/, "LiteLLM’s proxy with OpenTelemetry v2"],
  [/n8n/, "n8n"],
  [/traceloop/, "OpenLLMetry"],
  [/contrib/, "OpenTelemetry’s instrumentations"],
  [/pydantic-ai/, "Pydantic AI"],
  [/langsmith/, "LangSmith"],
  [/langfuse/, "Langfuse"],
  [/google-adk/, "Google ADK"],
  [/semantic-kernel/, "Semantic Kernel"],
  [/agent-framework/, "Microsoft Agent Framework"],
  [/openlit/, "OpenLIT"],
  [/litellm/, "LiteLLM"],
  [/autogen/, "AutoGen"],
  [/laminar/, "Laminar"],
  [/spring-ai/, "Spring AI"],
];

for (const [name, expected] of recordings) {
  test(`${name}: a setting is named only without input and reply, and is that of its SDK`, () => {
    const writtenBy = writers.find(([recording]) => recording.test(name))?.[1];
    const found = new Set<string>();
    for (const trace of recordedTraces(name)) {
      for (const conventions of [[], ["*"]]) {
        const { contentSwitches } = report(trace, conventions);
        if (expected["user input"]) assert.deepEqual(contentSwitches, []);
        const without = report(withoutContent(trace), conventions);
        assert.deepEqual([without.derived.userInput, without.derived.responseText], [null, null]);
        for (const one of without.contentSwitches) found.add(one.writtenBy);
      }
    }
    assert.deepEqual([...found], writtenBy === undefined ? [] : [writtenBy]);
  });
}

const chat = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o" };
const adk = (id: string, more: Attributes = {}) =>
  makeSpan(id, { attributes: { ...chat, "gcp.vertex.agent.event_id": "1", ...more } });
const contrib = (id: string) =>
  makeSpan(id, { attributes: chat, scope: { name: "opentelemetry.instrumentation.openai_v2" } });

test("a setting is named with the lines that switch messages on", () => {
  assert.deepEqual(switchesOf([adk("a")]), [
    {
      convention: "google_adk",
      writtenBy: "Google ADK",
      text: "Version 2 writes messages only if both variables are set. Version 1 writes them unless ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS is false.",
      lines: [
        "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT",
      ],
      logRecords: false,
    },
  ]);
});

test("the setting of each SDK in the trace is named once, in an order that does not depend on that of the spans", () => {
  const spans = [adk("a"), contrib("b"), adk("c"), contrib("d")];
  const named = (some: Span[]) => switchesOf(some).map(({ writtenBy }) => writtenBy);
  assert.deepEqual(named(spans), ["Google ADK", "OpenTelemetry’s instrumentations"]);
  assert.deepEqual(named(spans.toReversed()), named(spans));
});

test("the OpenAI Agents SDK's instrumentation, which writes messages by default, has advice of its own", () => {
  const agents = makeSpan("a", {
    attributes: { ...chat, "server.address": "api.openai.com" },
    scope: { name: "opentelemetry.instrumentation.openai_agents" },
  });
  const [one] = switchesOf([agents]);
  assert.equal(one?.writtenBy, "OpenTelemetry’s instrumentation of the OpenAI Agents SDK");
  assert.match(one.text, /unless/);
});

test("nothing is said where the setting is not known, or the trace has no call of a model and no agent", () => {
  assert.deepEqual(switchesOf([makeSpan("a", { attributes: chat, scope: { name: "own.tracer" } })]), []);
  assert.deepEqual(switchesOf([adk("a", { "gen_ai.operation.name": "execute_tool" })]), []);
  assert.deepEqual(switchesOf([adk("a", { "gen_ai.operation.name": "create_agent" })]), []);
  assert.deepEqual(switchesOf([makeSpan("a")]), []);
});

test("nothing is said where a reply alone is there, on whatever span, or a convention would give it", () => {
  assert.deepEqual(switchesOf([adk("a"), adk("b", { "gen_ai.response.text": "Hello." })]), []);
  const { readable, contentSwitches } = report(
    makeTrace([adk("a", { "gcp.vertex.agent.llm_response": '{"content":{"parts":[{"text":"Hello."}]}}' })]),
    [],
  );
  assert.deepEqual([readable, contentSwitches], [["google_adk"], []]);
});

test("nothing is said of a trace whose content was left out or dropped here", () => {
  const trace = makeTrace([adk("a")]);
  assert.notDeepEqual(report(trace, []).contentSwitches, []);
  for (const content of ["none", "forgotten"] as const) {
    assert.deepEqual(report({ ...trace, content }, []).contentSwitches, []);
  }
});

for (const placeholder of ["__REDACTED__", "redacted-by-litellm", "[REDACTED]"]) {
  test(`${placeholder} is no message, so the setting that hides messages is named`, () => {
    const hidden = makeSpan("a", {
      attributes: {
        "openinference.span.kind": "LLM",
        "input.value": placeholder,
        "output.value": placeholder,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": placeholder,
        "llm.token_count.prompt": 1,
      },
    });
    const { derived, contentSwitches } = report(makeTrace([hidden]), ["openinference"]);
    assert.deepEqual([derived.userInput, derived.responseText], [null, null]);
    assert.equal(derived.tokens.input, 1);
    assert.deepEqual(
      contentSwitches.map(({ writtenBy }) => writtenBy),
      ["OpenInference"],
    );
  });
}
