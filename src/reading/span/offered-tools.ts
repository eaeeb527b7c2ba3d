// The names of the tools that models were offered, as instrumentations write them.
import { isRecord } from "../../model/record.ts";
import type { Span } from "../../model/trace/trace.ts";
import { attributeOf } from "./conversation.ts";
import { decode, unflatten } from "./values.ts";

const lists = [
  ...["gen_ai.tool.definitions", "gen_ai.agent.tools", "gen_ai.request.tools", "tools", "llm.tools"],
  ...["ai.prompt.tools", "mlflow.chat.tools", "llm.openai.tools", "model_request_parameters"],
  ...["llm.invocation_parameters", "spring.ai.model.request.tool.names", "spring.ai.chat.client.tool.names"],
  ...["lk.function_tools", "haystack.agent.tools", "crewai.agent.tools", "smolagents.tools_names"],
  ...["additional_kwargs.tools", "sk.available_functions", "gcp.vertex.agent.llm_request"],
];
const flattened = ["gen_ai.tool.definitions.", "gen_ai.tool.", "llm.tools.", "llm.request.functions."];

const namesMax = 200;
/** Of all definitions that differ, together: each model call repeats them. */
const charactersMax = 500_000;

/** Each once, in the order of the spans; empty if none tells, or if they are too many to be named. */
export function offeredTools(spans: Span[]): string[] {
  const names = new Set<string>();
  const read = new Set<string>();
  let left = charactersMax;
  const add = (value: unknown) => {
    if (value === undefined || names.size > namesMax) return;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (text === undefined || read.has(text) || text.length > left) return;
    read.add(text);
    left -= text.length;
    for (const name of namesIn(value, 0)) if (names.size <= namesMax) names.add(name);
  };
  for (const span of spans) {
    for (const key of lists) add(attributeOf(span, key));
    for (const prefix of flattened) add(unflatten(span.attributes, prefix));
  }
  return names.size > namesMax ? [] : [...names];
}

const depthMax = 6;
const inside = ["function", "tool", "json_schema", "data", "tools", "functions", "config"];
const declarations = ["functionDeclarations", "function_declarations", "function_tools"];

function namesIn(value: unknown, depth: number): string[] {
  const read = decode(value);
  if (typeof read === "string") {
    return /^[\w.:/-]{1,100}(?:, ?[\w.:/-]{1,100})*$/.test(read) ? read.split(/, ?/) : [];
  }
  if (depth === depthMax) return [];
  if (Array.isArray(read)) return read.flatMap(one => namesIn(one, depth + 1));
  if (!isRecord(read)) return [];
  if (typeof read["name"] === "string") return /\S/.test(read["name"]) ? [read["name"]] : [];
  // A plain text there is a setting, not a name.
  return [...declarations, ...inside].flatMap(key =>
    typeof decode(read[key]) === "object" ? namesIn(read[key], depth + 1) : [],
  );
}
