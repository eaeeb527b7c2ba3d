// Derived values of a trace, rule by rule, on a recorded trace and on arbitrary spans.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import fc from "fast-check";
import { mergeBatches } from "../../../src/model/trace/merge.ts";
import type { Attributes, Span } from "../../../src/model/trace/trace.ts";
import { derive } from "../../../src/reading/derived/derive.ts";
import { decodeLimits } from "../../../src/wire/limits.ts";
import { readOtlpJson } from "../../../src/wire/otlp-json.ts";
import { arbitraryPath, arbitrarySpan, makeBatch, makeSpan, makeTrace } from "../../model/make-trace.ts";

const from = (...spans: Span[]) => derive(makeTrace(spans));
const root = (attributes: Attributes = {}, fields: Partial<Span> = {}) =>
  makeSpan("root", { attributes, ...fields });
const child = (id: string, attributes: Attributes = {}, parent = "root", fields: Partial<Span> = {}) =>
  makeSpan(id, { parent_span_id: parent, attributes, ...fields });
const timed = (id: string, start: string | null, end: string | null, parent: string | null = "root") =>
  makeSpan(id, { parent_span_id: parent, start_time_unix_nano: start, end_time_unix_nano: end });

suite("timing", () => {
  const big = "18446744073709551615";
  const cases: [string, Span[], string | null, string | null, number | null][] = [
    [
      "is the root's, whatever its children's",
      [timed("root", "1000000", "3500000", null), timed("a", "0", "9000000")],
      "1000000",
      "3500000",
      2.5,
    ],
    [
      "keeps nanoseconds beyond 2^53 apart",
      [timed("root", "1795206705950000000", "1795206705961757255", null)],
      "1795206705950000000",
      "1795206705961757255",
      11.757255,
    ],
    [
      "keeps one nanosecond",
      [timed("root", "1795206705950000000", "1795206705950000001", null)],
      "1795206705950000000",
      "1795206705950000001",
      0.000001,
    ],
    ["reaches to the end of uint64", [timed("root", "0", big, null)], "0", big, 18446744073709.55],
    ["can be zero", [timed("root", "5", "5", null)], "5", "5", 0],
    [
      "has no duration where the end is before the start",
      [timed("root", "6", "5", null), timed("a", "0", "9")],
      "6",
      "5",
      null,
    ],
    [
      "is the earliest start and latest end of all where the root has no end",
      [timed("root", "20", null, null), timed("a", "9", "100"), timed("b", "10", "99")],
      "9",
      "100",
      0.000091,
    ],
    [
      "is so too where the root has no start",
      [timed("root", null, "5", null), timed("a", "1", "4")],
      "1",
      "5",
      0.000004,
    ],
    ["has no duration without a start", [timed("root", null, "5", null)], null, "5", null],
    ["is absent without times", [timed("root", null, null, null)], null, null, null],
    [
      "passes over times that are no uint64 text",
      [timed("root", "soon", "5", null), timed("a", "-1", "1e9"), timed("b", "2", "")],
      "2",
      "5",
      0.000003,
    ],
  ];
  for (const [name, spans, start, end, durationMs] of cases) {
    test(name, () => {
      const derived = from(...spans);
      assert.deepEqual(
        [derived.startTimeUnixNano, derived.endTimeUnixNano, derived.durationMs],
        [start, end, durationMs],
      );
      assert.equal(derived.notices.includes("no_timing"), durationMs === null);
    });
  }
});

suite("tokens", () => {
  const usage = (input?: unknown, output?: unknown, reasoning?: unknown): Attributes => ({
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.output_tokens": output,
    "gen_ai.usage.reasoning.output_tokens": reasoning,
  });
  const operation = (name: string, ...counts: unknown[]) => ({
    "gen_ai.operation.name": name,
    ...usage(...counts),
  });
  const agent = (...counts: unknown[]) => operation("invoke_agent", ...counts);
  type Counts = [number | null, number | null, number | null, number | null];
  const cases: [string, Span[], Counts][] = [
    [
      "are the root's, not its children's",
      [root(usage(10, 5, 2)), child("a", usage(1, 1, 1))],
      [10, 5, 2, 15],
    ],
    [
      "are summed over the other spans where the root has none",
      [root(), child("a", usage(1, 2, 1)), child("b", usage(3, 4, 2), "a")],
      [4, 6, 3, 10],
    ],
    [
      "are decided one by one",
      [root(usage(10)), child("a", usage(1, 2)), child("b", usage(1, 2, 3))],
      [10, 4, 3, 14],
    ],
    [
      "take a root's zero as absent where others say more",
      [root(usage(0, 0)), child("a", usage(1, 2))],
      [1, 2, null, 3],
    ],
    [
      "count a root's zero where no other says more",
      [root(usage(0, 0)), child("a", usage(0))],
      [0, 0, null, 0],
    ],
    ["have no total without input and output", [root(usage(undefined, undefined, 7))], [null, null, 7, null]],
    ["have the present side as total where one is absent", [root(usage(undefined, 7))], [null, 7, null, 7]],
    ["do not add reasoning to the total", [root(usage(1, 10, 9))], [1, 10, 9, 11]],
    ["may be decimal text", [root(usage("12", "034", "0"))], [12, 34, 0, 46]],
    [
      "that make no sense are passed over",
      [
        root(usage(-1, 1.5, "many")),
        child("a", usage(NaN, Infinity, "1e3")),
        child("b", usage(true, [1], {})),
        child("c", usage(1e21, "", "-1")),
      ],
      [null, null, null, null],
    ],
    [
      "of a bad value on the root fall back to the others",
      [root(usage("?", 4)), child("a", usage(3, 9))],
      [3, 4, null, 7],
    ],
    [
      "of spans that do not hang from the root count too",
      [root(), child("a", usage(1, 1)), child("x", usage(2, 2), "gone")],
      [3, 3, null, 6],
    ],
    [
      "never grow beyond exact integers",
      [root(), child("a", usage(Number.MAX_SAFE_INTEGER)), child("b", usage(Number.MAX_SAFE_INTEGER, 1))],
      [Number.MAX_SAFE_INTEGER, 1, null, Number.MAX_SAFE_INTEGER],
    ],
    [
      "of an agent that repeats its descendants' are left out",
      [
        root(),
        child("agent", agent(30, 3)),
        child("step", {}, "agent"),
        child("a", usage(10, 1), "step"),
        child("b", usage(20, 2), "step"),
      ],
      [30, 3, null, 33],
    ],
    [
      "of an agent stand where nothing below it has any",
      [root(), child("agent", agent(30, 3)), child("a", {}, "agent")],
      [30, 3, null, 33],
    ],
    [
      "of an agent stand one by one where nothing below it has that one",
      [root(), child("agent", agent(30, 3, 2)), child("a", usage(30, 3), "agent")],
      [30, 3, 2, 33],
    ],
    [
      "of an agent stand where those below it make no sense",
      [root(), child("agent", agent(30, 3)), child("a", usage("?", -1), "agent")],
      [30, 3, null, 33],
    ],
    [
      "of nested agents count once",
      [
        root(),
        child("outer", agent(9, 9)),
        child("inner", agent(9, 9), "outer"),
        child("a", usage(4, 5), "inner"),
        child("b", usage(5, 4), "inner"),
      ],
      [9, 9, null, 18],
    ],
    [
      "of the innermost agent stand where no call below has any",
      [root(), child("outer", agent(9, 9)), child("inner", agent(9, 9), "outer")],
      [9, 9, null, 18],
    ],
    [
      "of a workflow and a step are left out likewise",
      [
        root(),
        child("flow", operation("invoke_workflow", 5, 5)),
        child("step", operation("agent_step", 5, 5), "flow"),
        child("a", usage(5, 5), "step"),
      ],
      [5, 5, null, 10],
    ],
    [
      "of a chat above another count both",
      [root(), child("a", operation("chat", 5, 5)), child("b", operation("chat", 1, 1), "a")],
      [6, 6, null, 12],
    ],
    [
      "of an agent with usage in a sibling stand",
      [root(), child("agent", agent(30, 3)), child("a", usage(1, 1))],
      [31, 4, null, 35],
    ],
    [
      "of an agent that is its own parent count once",
      [root(), child("agent", agent(30, 3), "agent")],
      [30, 3, null, 33],
    ],
    [
      "of agents that are each other's parents terminate",
      [root(), child("a", agent(1, 1), "b"), child("b", agent(2, 2), "a")],
      [3, 3, null, 6],
    ],
  ];
  for (const [name, spans, [input, output, reasoning, total]] of cases) {
    test(name, () =>
      assert.deepEqual(from(...spans).tokens, { input, output, reasoning, cached: null, total }),
    );
  }
});

suite("HTTP status, failure and name", () => {
  const status = (code: unknown) => ({ "http.response.status_code": code });
  const late = { start_time_unix_nano: "9" };
  const cases: [string, Span[], [string, number] | null][] = [
    ["is the root's", [root(status(200)), child("a", status(500))], ["root", 200]],
    [
      "is else that of the span nearest the root",
      [
        root(),
        child("a"),
        child("deep", status(500), "a", { start_time_unix_nano: "1" }),
        child("b", status(404), "root", late),
      ],
      ["b", 404],
    ],
    [
      "is of equally near ones the earliest",
      [
        root(),
        child("a", status(500), "root", late),
        child("b", status(404), "root", { start_time_unix_nano: "8" }),
      ],
      ["b", 404],
    ],
    [
      "is of spans without times the first",
      [root(), child("a", status(500)), child("b", status(404))],
      ["a", 500],
    ],
    [
      "is last that of a span that does not hang from the root",
      [root(), child("x", status(500), "gone"), child("a"), child("b", status(404), "a")],
      ["b", 404],
    ],
    ["may be that of such a span", [root(), child("x", status(500), "gone")], ["x", 500]],
    ["may be decimal text", [root(status("503"))], ["root", 503]],
    [
      "that makes no sense is passed over",
      [
        root(status(0)),
        child("a", status("OK")),
        child("b", status(-200)),
        child("c", status(200.5)),
        child("d", status(1e9)),
        child("e", status(204)),
      ],
      ["e", 204],
    ],
    ["of an older convention does not count", [root({ "http.status_code": 200 })], null],
  ];
  for (const [name, spans, expected] of cases) {
    test(name, () => {
      const found = from(...spans).httpStatus;
      assert.deepEqual(found && [found.spanId, found.value], expected);
    });
  }

  test("a trace has failed when any span has status code 2, and only then", () => {
    assert.equal(from(root(), child("a", {}, "root", { status: { code: 2 } })).failed, true);
    for (const ok of [null, {}, { code: 0 }, { code: 1 }, { code: 3, message: "error" }]) {
      assert.equal(from(root({}, { status: ok })).failed, false);
    }
  });
  test("the trace's name is the root's", () => {
    assert.deepEqual([from(child("a"), root({}, { name: "Ask" })).name, from().name], ["Ask", ""]);
  });
});

suite("notices", () => {
  const whole = root(
    { "gen_ai.prompt": "hi", "gen_ai.response.text": "hello", "gen_ai.usage.input_tokens": 1 },
    { start_time_unix_nano: "1", end_time_unix_nano: "2" },
  );
  test("a complete trace has none", () => assert.deepEqual(from(whole).notices, []));
  test("no_user_input is set if no input was found", () => {
    assert.deepEqual(from({ ...whole, attributes: {} }).notices, ["no_user_input"]);
  });
  test("the notices of the span tree are included", () => {
    assert.deepEqual(from(whole, child("a", {}, "gone")).notices, ["orphan_spans"]);
    assert.deepEqual(from({ ...whole, parent_span_id: "gone" }).notices, ["orphan_spans", "no_root"]);
  });
  test("a trace without spans has derived values too", () => {
    const derived = from();
    assert.deepEqual([derived.rootSpanId, derived.spanCount, derived.toolCalls], [null, 0, []]);
    assert.deepEqual(derived.notices, ["no_user_input", "no_root", "no_timing"]);
  });
});

suite("attributes of other conventions", () => {
  const cases: [string, Attributes, string[], RegExp][] = [
    [
      "OpenInference",
      {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.content": "hi",
        "llm.output_messages.0.message.content": "ho",
        "llm.token_count.prompt": 3,
      },
      ["openinference.span.kind", "llm.input_messages.*", "llm.output_messages.*", "llm.token_count.*"],
      /gen_ai\.input\.messages, gen_ai\.output\.messages, gen_ai\.usage\.input_tokens/,
    ],
    [
      "Vercel AI SDK before 7",
      {
        "ai.prompt.messages": "[]",
        "ai.response.text": "ho",
        "ai.toolCall.name": "f",
        "ai.toolCall.args": "{}",
      },
      ["ai.prompt", "ai.response.*", "ai.toolCall.name", "ai.toolCall.args"],
      /gen_ai\.tool\.name, gen_ai\.tool\.call\.arguments.*@ai-sdk\/otel/,
    ],
    ["n8n", { "n8n.node.name": "Agent" }, ["n8n.*"], /gen_ai\.input\.messages, gen_ai\.output\.messages/],
    [
      "OpenLLMetry before 2026",
      {
        "gen_ai.prompt.0.content": "hi",
        "gen_ai.completion.0.content": "ho",
        "gen_ai.usage.prompt_tokens": 3,
      },
      ["gen_ai.prompt.*", "gen_ai.completion.*", "gen_ai.usage.prompt_tokens"],
      /gen_ai\.usage\.input_tokens/,
    ],
    [
      "OpenLLMetry before 2026",
      { "traceloop.entity.input": "hi", "traceloop.span.kind": "workflow" },
      ["traceloop.entity.input", "traceloop.*"],
      /gen_ai\.input\.messages/,
    ],
    [
      "LangSmith",
      { "langsmith.span.kind": "llm", "gen_ai.completion": "{}" },
      ["langsmith.*"],
      /gen_ai\.output\.messages/,
    ],
    [
      "Google ADK",
      { "gcp.vertex.agent.llm_request": "{}", "gcp.vertex.agent.llm_response": "{}" },
      ["gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"],
      /gen_ai\.input\.messages, gen_ai\.output\.messages/,
    ],
    [
      "Langfuse",
      { "langfuse.observation.input": "hi", "langfuse.observation.usage_details": "{}" },
      ["langfuse.observation.input", "langfuse.observation.usage_details"],
      /gen_ai\.input\.messages, gen_ai\.usage.*switch on Langfuse/,
    ],
    [
      "Mastra",
      { "gen_ai.completion": "{}", "mastra.span.type": "model_generation" },
      ["mastra.span.type"],
      /gen_ai\.output\.messages.*switch on Mastra/,
    ],
    [
      "VoltAgent",
      { "voltagent.operation_id": "o", "ai.response.finish_reason": "stop" },
      ["voltagent.*"],
      /gen_ai\.output\.messages.*switch on VoltAgent/,
    ],
    [
      "LangWatch",
      { "langwatch.input": "{}", "langwatch.output": "{}", "langwatch.span.type": "llm" },
      ["langwatch.input", "langwatch.output", "langwatch.span.type"],
      /gen_ai\.input\.messages, gen_ai\.output\.messages.*switch on LangWatch/,
    ],
    [
      "OpenLIT",
      { "gen_ai.workflow.input": "hi", "gen_ai.workflow.output": "ho" },
      ["gen_ai.workflow.input", "gen_ai.workflow.output"],
      /gen_ai\.input\.messages, gen_ai\.output\.messages.*switch on OpenLIT/,
    ],
    [
      "Spring AI",
      { "spring.ai.tool.definition.name": "f", "spring.ai.tool.call.arguments": "{}" },
      ["spring.ai.tool.definition.name", "spring.ai.tool.call.arguments"],
      /gen_ai\.tool\.name, gen_ai\.tool\.call\.arguments.*switch on Spring AI/,
    ],
    [
      "Pydantic AI",
      { "pydantic_ai.all_messages": "[]", final_result: "ho" },
      ["pydantic_ai.all_messages"],
      /gen_ai\.input\.messages\..*switch on Pydantic AI/,
    ],
  ];
  for (const [name, attributes, found, send] of cases) {
    test(`${name} is named with ${found[0]} and what to send`, () => {
      const derived = from(root(), child("a", attributes));
      assert.ok(derived.notices.includes("other_convention"));
      assert.deepEqual(
        { name: derived.otherConvention?.name, found: derived.otherConvention?.found },
        { name, found },
      );
      assert.match(derived.otherConvention?.send ?? "", send);
    });
    test(`the attributes of ${name} with ${found[0]} have no other effect`, () => {
      const { userInput, responseText, tokens, toolCalls } = from(root(attributes));
      assert.deepEqual([userInput, responseText, tokens.total, toolCalls], [null, null, null, []]);
    });
  }

  const complete = {
    "gen_ai.input.messages": [{ role: "user", content: "hi" }],
    "gen_ai.output.messages": [{ role: "assistant", content: "ho" }],
    "gen_ai.usage.input_tokens": 1,
    "gen_ai.tool.name": "f",
    "gen_ai.tool.call.arguments": {},
  };
  test("are not reported if the trace has the attributes they replace", () => {
    for (const [, attributes] of cases)
      assert.equal(from(root(complete), child("a", attributes)).otherConvention, null);
  });
  test("are reported only for what is missing in the trace", () => {
    const { "gen_ai.usage.input_tokens": _, ...noUsage } = complete;
    const derived = from(root(noUsage), child("a", cases[0]![1]));
    assert.deepEqual(derived.otherConvention?.found, ["llm.token_count.*"]);
    assert.match(
      derived.otherConvention?.send ?? "",
      /^Send gen_ai\.usage\.input_tokens and gen_ai\.usage\.output_tokens\. /,
    );
  });
  test("of several conventions are all named", () => {
    assert.equal(
      from(root({ "n8n.node.name": "x", "openinference.span.kind": "LLM" })).otherConvention?.name,
      "OpenInference, n8n",
    );
  });
  test("are not reported for keys that only start alike", () => {
    for (const key of [
      "ai.promptly",
      "n8ns",
      "gen_ai.completion_tokens",
      "openinference.span.kinds",
      "x.ai.prompt",
      "gen_ai.prompt",
    ]) {
      assert.equal(from(root({ [key]: "x" })).otherConvention, null, key);
    }
  });
});

suite("a recorded tool loop of the Vercel AI SDK 7", () => {
  const spans = recordedSpans("11-vercel-ai-v7-otel-tool-loop.json");
  const expectSame = (derived: ReturnType<typeof derive>) => {
    assert.equal(derived.userInput?.text, "What is the weather in Paris?");
    assert.equal(derived.responseText?.text, "It is rainy, 14°C in Paris.");
    assert.equal(derived.judgedText?.text, "It is rainy, 14°C in Paris.");
    assert.deepEqual(derived.tokens, { input: 43, output: 14, reasoning: null, cached: 0, total: 57 });
    assert.equal(derived.toolCalls.length, 1);
    assert.deepEqual(derived.toolCalls[0], {
      spanId: "fd42c571abb43192",
      parentSpanId: "51d0d70ff36950fe",
      name: "get_weather",
      arguments: { city: "Paris" },
    });
    assert.equal(derived.failed, false);
    assert.deepEqual(derived.notices, []);
  };

  test("has input, reply, tool call and usage, whichever batch came first", () => {
    const batches = spans.map(span => makeBatch([span]));
    for (const order of [batches, batches.toReversed(), [makeBatch(spans)]]) {
      const derived = derive(mergeBatches(order, "otlp"));
      expectSame(derived);
      assert.deepEqual([derived.name, derived.durationMs], ["invoke_agent gpt-4o-mini", 11.757255]);
    }
  });
  test("has them on the canonical path", () =>
    expectSame(derive(mergeBatches([makeBatch(spans)], "canonical"))));
  test("has the same usage under an HTTP root, not twice as much", () => {
    const http = makeSpan("http", {
      attributes: { "http.response.status_code": 200 },
      start_time_unix_nano: "1",
      end_time_unix_nano: "2",
    });
    const below = spans.map(span => (span.parent_span_id ? span : { ...span, parent_span_id: "http" }));
    const derived = derive(mergeBatches([makeBatch([...below, http])], "otlp"));
    expectSame(derived);
    assert.deepEqual([derived.rootSpanId, derived.httpStatus?.value], ["http", 200]);
  });
});

suite("arbitrary spans", () => {
  test("never make derive throw or change them, and give values that JSON can represent", () => {
    fc.assert(
      fc.property(fc.array(arbitrarySpan, { maxLength: 14 }), arbitraryPath, (spans, path) => {
        const before = structuredClone(spans);
        const derived = derive(makeTrace(spans, path));
        assert.deepEqual(spans, before);
        assert.equal(derived.spanCount, spans.length);
        assert.equal(derived.rootSpanId === null, spans.length === 0);
        assert.ok(derived.durationMs === null || derived.durationMs >= 0);
        for (const count of Object.values(derived.tokens))
          assert.ok(count === null || Number.isSafeInteger(count));
        assert.deepEqual(derive(makeTrace(spans, path)), derived);
        JSON.stringify(derived);
      }),
      { numRuns: 300 },
    );
    assert.equal(({} as Attributes)["polluted"], undefined);
  });

  test("in a chain or a cycle of 100,000 spans with many attributes are derived quickly", () => {
    const attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.usage.input_tokens": 1,
      "gen_ai.output.messages": "[",
      "gen_ai.input.messages": "[",
      "http.response.status_code": 200,
    };
    const chain = Array.from({ length: 100_000 }, (_, i) =>
      makeSpan(`s${i}`, { parent_span_id: `s${i - 1}`, attributes }),
    );
    const cycle = chain.with(0, makeSpan("s0", { parent_span_id: "s99999", attributes }));
    assert.equal(from(root(), ...chain).tokens.input, 1);
    assert.equal(from(root(), ...cycle).tokens.input, 100_000);
  });
});

/** The spans of a recorded export of one trace. */
function recordedSpans(file: string): Span[] {
  const text = readFileSync(new URL(`../../fixtures/otlp/${file}`, import.meta.url), "utf8");
  const [group] = readOtlpJson(JSON.parse(text), decodeLimits, 0);
  assert.ok(group && "batch" in group);
  return group.batch.spans;
}

suite("noise", () => {
  const http = (path: string) =>
    makeSpan("a", { name: `GET ${path}`, attributes: { "http.request.method": "GET", "url.path": path } });
  const mcp = (method: string) =>
    makeSpan("m", { name: method, attributes: { "mcp.method.name": method }, scope: { name: "mcp" } });
  const noiseIn = (...spans: Span[]) => {
    const { noise, notices } = derive(makeTrace(spans));
    assert.equal(notices.includes("noise"), noise !== null);
    return noise;
  };
  test("health checks, an MCP client's own spans and a workflow tool's expressions", () => {
    for (const path of [
      "/health",
      "/health/liveliness",
      "/healthz",
      "/api/v1/readyz",
      "/livez?verbose=1",
      "/ping",
    ])
      assert.equal(noiseIn(http(path), makeSpan("b", { name: "fastapi.endpoint" })), "health_check", path);
    for (const method of ["initialize", "tools/list", "notifications/initialized", "ping"])
      assert.equal(noiseIn(mcp(method)), "mcp_client", method);
    assert.equal(noiseIn(makeSpan("e", { name: "expression.evaluate" })), "expression");
  });
  test("nothing else: what an agent did, any other request, or no sign at all", () => {
    const call = makeSpan("c", { attributes: { "gen_ai.request.model": "m" } });
    assert.equal(noiseIn(http("/health"), call), null);
    assert.equal(noiseIn(http("/health"), http("/v1/chat")), null);
    const llm = makeSpan("l", { attributes: { "openinference.span.kind": "LLM", "input.value": "Hello" } });
    assert.equal(noiseIn(http("/ping"), llm), null);
    assert.equal(noiseIn(http("/healthy-recipes")), null);
    assert.equal(noiseIn(mcp("tools/list"), mcp("tools/call")), null);
    assert.equal(noiseIn(mcp("tools/list"), makeSpan("x")), null);
    assert.equal(noiseIn(makeSpan("x", { name: "agent" })), null);
    assert.equal(noiseIn(), null);
  });
});
