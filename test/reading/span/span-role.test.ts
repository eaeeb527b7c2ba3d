// The kind of a span, by the attributes of each convention.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { SpanRole } from "../../../src/model/trace/shown.ts";
import type { Span } from "../../../src/model/trace/trace.ts";
import { roleOf } from "../../../src/reading/span/span-role.ts";

const table: [SpanRole, Span["attributes"]][] = [
  ["tool", { "gen_ai.tool.name": "search", "gen_ai.operation.name": "chat" }],
  ["tool", { "gen_ai.operation.name": "execute_tool" }],
  ["agent", { "gen_ai.operation.name": "invoke_agent", "gen_ai.request.model": "m" }],
  ["agent", { "gen_ai.operation.name": "create_agent" }],
  ["agent", { "gen_ai.operation.name": "invoke_workflow" }],
  ["model", { "gen_ai.operation.name": "chat" }],
  ["model", { "gen_ai.operation.name": "text_completion" }],
  ["model", { "gen_ai.operation.name": "generate_content" }],
  ["model", { "gen_ai.operation.name": "embeddings" }],
  ["retrieval", { "gen_ai.operation.name": "retrieval" }],
  ["model", { "gen_ai.operation.name": "of_next_year", "gen_ai.request.model": "m" }],
  ["model", { "gen_ai.system": "openai" }],
  ["agent", { "gen_ai.agent.name": "Support" }],
  ["agent", { "openinference.span.kind": "AGENT", "llm.model_name": "m" }],
  ["model", { "openinference.span.kind": "LLM" }],
  ["model", { "openinference.span.kind": "EMBEDDING" }],
  ["tool", { "openinference.span.kind": "TOOL" }],
  ["retrieval", { "openinference.span.kind": "RETRIEVER" }],
  ["retrieval", { "openinference.span.kind": "RERANKER" }],
  ["other", { "openinference.span.kind": "CHAIN" }],
  ["agent", { "traceloop.span.kind": "workflow" }],
  ["other", { "traceloop.span.kind": "task" }],
  ["tool", { "traceloop.span.kind": "tool" }],
  ["model", { "langsmith.span.kind": "llm" }],
  ["retrieval", { "langsmith.span.kind": "retriever" }],
  ["model", { "langfuse.observation.type": "generation" }],
  ["model", { "mlflow.spanType": '"CHAT_MODEL"' }],
  ["tool", { "mlflow.spanType": '"TOOL"' }],
  ["retrieval", { "langwatch.span.type": "rag" }],
  ["model", { "lmnr.span.type": "LLM" }],
  ["other", { "lmnr.span.type": "DEFAULT" }],
  ["http", { "http.request.method": "POST" }],
  ["http", { "http.method": "GET" }],
  ["model", { "http.request.method": "POST", "gen_ai.request.model": "m" }],
  ["other", { "http.response.status_code": 200 }],
  ["other", { "gen_ai.operation.name": { name: "chat" } }],
  ["other", { "openinference.span.kind": "constructor" }],
  ["other", {}],
];

for (const [role, attributes] of table) {
  test(`${JSON.stringify(attributes)}: ${role}`, () => {
    assert.equal(roleOf({ attributes } as Span), role);
  });
}
