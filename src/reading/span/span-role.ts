// The kind of a span (agent, model, tool, retrieval, HTTP) by the attributes of the common tracing conventions.

import type { SpanRole } from "../../model/trace/shown.ts";
import type { Span } from "../../model/trace/trace.ts";
import { attributeOf, toolNameOf } from "./conversation.ts";

/** A name of the kind comes before the model: agent spans may name the model that they use. */
export function roleOf(span: Span): SpanRole {
  if (toolNameOf(span) !== null) return "tool";
  for (const key of namingKeys) {
    const role = roles.get(plainName(attributeOf(span, key)));
    if (role) return role;
  }
  const has = (key: string) => attributeOf(span, key) !== undefined;
  if (modelKeys.some(has)) return "model";
  if (has("gen_ai.agent.name")) return "agent";
  return httpKeys.some(has) ? "http" : "other";
}

/** Attributes that name the kind, OpenTelemetry's own first. */
const namingKeys = [
  "gen_ai.operation.name",
  "openinference.span.kind",
  "traceloop.span.kind",
  "langsmith.span.kind",
  "langfuse.observation.type",
  "mlflow.spanType",
  "langwatch.span.type",
  "lmnr.span.type",
];

const modelKeys = ["gen_ai.request.model", "gen_ai.system", "llm.model_name"];
/** Not the status: agents set it on their root to have it checked. */
const httpKeys = ["http.request.method", "http.method", "http.url"];

/** Names without case, separators and quotes. Chains, tasks and the like are plain steps, which later attributes may name. */
const names: Partial<Record<SpanRole, string[]>> = {
  agent: ["invokeagent", "createagent", "invokeworkflow", "agentstep", "agent", "workflow"],
  model: [
    ...["chat", "textcompletion", "generatecontent", "embeddings"],
    ...["llm", "chatmodel", "generation", "embedding"],
  ],
  tool: ["executetool", "tool"],
  retrieval: ["retrieval", "retriever", "reranker", "rag"],
};

const roles = new Map(
  (Object.entries(names) as [SpanRole, string[]][]).flatMap(([role, list]) =>
    list.map((name): [string, SpanRole] => [name, role]),
  ),
);

/** MLflow writes its names in JSON quotes. */
function plainName(value: unknown): string {
  return typeof value === "string" ? value.toLowerCase().replace(/[^a-z]/g, "") : "";
}
