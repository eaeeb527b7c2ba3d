// Reads a span by a table of attribute names: what most conventions need.
import { attributeOf, toolNameOf } from "../conversation/conversation.ts";
import { isRecord } from "../record.ts";
import type { ReadMessage } from "../trace/message-parts.ts";
import type { Attributes, Span } from "../trace/trace.ts";
import { messagesIn } from "./messages.ts";
import type { Preset, Sourced, SpanReading, SpanRole, ToolReading, Usage } from "./reading.ts";
import { decode, sourced, textOf, unflatten, usageIn, usageOf } from "./values.ts";

/** Attribute names, the first that has a value counts. A name that ends in a dot is the prefix of a flattened list. */
export type Table = {
  name: string;
  title: string;
  writes: string;
  marks: string[];
  scope?: RegExp;
  /** The attribute that names the kind of span, and the role of each kind in lower case. */
  kinds?: { attribute: string; roles: Record<string, SpanRole> };
  /** The role where `kinds` says nothing. */
  role?: (span: Span) => SpanRole | null;
  input?: string[];
  output?: string[];
  /** In place of `input` and `output` on spans that are tools. */
  toolName?: string[];
  toolId?: string[];
  toolArguments?: string[];
  toolResult?: string[];
  usage?: { input: string[]; output: string[]; reasoning?: string[]; cached?: string[] };
  /** Attributes with all counts in JSON. */
  usageJson?: string[];
  /** Whether the usage of a span includes that of earlier spans with the same parent. */
  cumulative?: boolean;
  model?: string[];
  provider?: string[];
  conversationId?: string[];
  userId?: string[];
  /** Changes what the tables say. */
  mend?: (reading: SpanReading, span: Span) => SpanReading;
};

/** The attributes that OpenTelemetry names, which most conventions write beside their own. */
const standard = {
  input: ["gen_ai.input.messages"],
  output: ["gen_ai.output.messages", "gen_ai.response.text"],
  toolName: ["gen_ai.tool.name"],
  toolId: ["gen_ai.tool.call.id"],
  toolArguments: ["gen_ai.tool.call.arguments"],
  toolResult: ["gen_ai.tool.call.result"],
  usage: {
    input: ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"],
    output: ["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"],
    reasoning: ["gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"],
    cached: [
      "gen_ai.usage.cache_read.input_tokens",
      "gen_ai.usage.cache_read_input_tokens",
      "gen_ai.usage.cached_input_tokens",
    ],
  },
  model: ["gen_ai.response.model", "gen_ai.request.model"],
  provider: ["gen_ai.provider.name", "gen_ai.system"],
  conversationId: ["gen_ai.conversation.id", "session.id"],
  userId: ["user.id"],
};

export function preset(table: Table): Preset {
  const { name, title, writes, marks, scope } = table;
  return {
    name,
    title,
    writes,
    marks,
    scope: scope ?? null,
    read: span => {
      const reading = readByTable(span, table);
      return table.mend ? table.mend(reading, span) : reading;
    },
  };
}

function readByTable(span: Span, table: Table): SpanReading {
  const role = roleOf(span, table);
  const messages = (own: string[] | undefined, common: string[], side: "user" | "assistant") => {
    for (const attribute of [...(own ?? []), ...common]) {
      const found = messagesIn(valueAt(span, attribute), side);
      if (found) return found;
    }
    return null;
  };
  const isTool = role === "tool";
  const { usage } = standard;
  const join = (key: keyof typeof usage) => [...(table.usage?.[key] ?? []), ...usage[key]];
  return {
    role,
    asked: isTool ? null : (messages(table.input, standard.input, "user") ?? inEvents(span, "user")),
    answered: isTool
      ? null
      : (messages(table.output, standard.output, "assistant") ?? inEvents(span, "assistant")),
    tool: isTool ? readTool(span, table) : null,
    usage:
      usageOf(span, {
        input: join("input"),
        output: join("output"),
        reasoning: join("reasoning"),
        cached: join("cached"),
      }) ?? (table.usageJson ? firstUsage(span, table.usageJson) : null),
    cumulative: table.cumulative ?? false,
    model: textOf(span, ...(table.model ?? []), ...standard.model),
    provider: textOf(span, ...(table.provider ?? []), ...standard.provider),
    conversationId: textOf(span, ...(table.conversationId ?? []), ...standard.conversationId),
    userId: textOf(span, ...(table.userId ?? []), ...standard.userId),
  };
}

/** Reads a span by the documented attributes alone; null if it has none of them. */
export function readDocumented(span: Span): SpanReading | null {
  for (const key in span.attributes) {
    if (key.startsWith("gen_ai.") || key === "session.id" || key === "user.id") {
      const role = (one: Span) =>
        toolNameOf(one) === null ? (standardRole(one) ?? (isModelCall(one) ? "model" : "other")) : "tool";
      return readByTable(span, { name: "", title: "", writes: "", marks: [], role });
    }
  }
  return null;
}

function isModelCall(span: Span): boolean {
  return ["gen_ai.request.model", "gen_ai.system"].some(key => attributeOf(span, key) !== undefined);
}

function firstUsage(span: Span, attributes: string[]): Sourced<Usage> | null {
  for (const attribute of attributes) {
    const usage = usageIn(sourced(span, attribute));
    if (usage) return usage;
  }
  return null;
}

export function valueAt(span: Span, attribute: string): Sourced<unknown> | null {
  if (!attribute.endsWith(".")) return sourced(span, attribute);
  const value = unflatten(span.attributes, attribute);
  return value === undefined ? null : { value, spanId: span.span_id, attribute: `${attribute}*` };
}

function roleOf(span: Span, { kinds, role }: Table): SpanRole {
  const own = role?.(span);
  if (own) return own;
  const kind = kinds && textOf(span, kinds.attribute)?.value.toLowerCase();
  if (kind) return kinds.roles[kind] ?? "step";
  return standardRole(span) ?? "step";
}

export function standardRole(span: Span): SpanRole | null {
  const operation = attributeOf(span, "gen_ai.operation.name");
  return typeof operation === "string" ? (operations[operation] ?? null) : null;
}

const operations: Record<string, SpanRole> = {
  chat: "model",
  text_completion: "model",
  generate_content: "model",
  embeddings: "other",
  execute_tool: "tool",
  invoke_agent: "agent",
  invoke_workflow: "agent",
  create_agent: "other",
};

function readTool(span: Span, table: Table): ToolReading {
  const first = (own: string[] | undefined, common: string[]) => sourced(span, ...(own ?? []), ...common);
  const given = first(table.toolArguments, standard.toolArguments);
  const made = first(table.toolResult, standard.toolResult);
  const name = textOf(span, ...(table.toolName ?? []), ...standard.toolName);
  return {
    name: name?.value ?? span.name,
    nameFrom: name?.attribute ?? null,
    id: textOf(span, ...(table.toolId ?? []), ...standard.toolId)?.value ?? null,
    arguments: given && argumentsIn(given),
    result: made && { ...made, value: resultIn(made.value) },
  };
}

/** Python's `{"args": [], "kwargs": {…}}` are the arguments of the call if there are only named ones. */
function argumentsIn(found: Sourced<unknown>): Sourced<unknown> | null {
  const { value } = found;
  if (isRecord(value) && Array.isArray(value["args"]) && isRecord(value["kwargs"])) {
    return value["args"].length === 0 ? { ...found, value: value["kwargs"] } : null;
  }
  return isRecord(value) ? found : null;
}

/** What the tool returned, without the message that a framework put around it. */
function resultIn(value: unknown): unknown {
  const decoded = decode(value);
  if (typeof decoded === "string") return pythonMessage.exec(decoded)?.[1]?.replaceAll("\\'", "'") ?? decoded;
  if (!isRecord(decoded)) return decoded;
  return contentIn(decoded, 3) ?? decoded;
}

/** The content of a tool's message, on its own or wrapped; undefined if the value is no message. */
function contentIn(value: Attributes, levels: number): unknown {
  for (const key of ["data", "kwargs", "output"]) {
    const inner = value[key];
    if (!isRecord(inner)) continue;
    if ("content" in inner) return inner["content"];
    const content = levels > 0 ? contentIn(inner, levels - 1) : undefined;
    if (content !== undefined) return content;
  }
  return value["type"] === "tool" ? value["content"] : undefined;
}

/** The text of LangChain's message as Python writes it. */
const pythonMessage = /^content='((?:[^'\\]|\\.)*)' (?=\w+=)/s;

/** Span events of the standard that carry messages, one each. */
function inEvents(span: Span, side: "user" | "assistant"): Sourced<ReadMessage[]> | null {
  const messages: ReadMessage[] = [];
  let named = "";
  for (const event of span.events) {
    if (!isRecord(event) || !isRecord(event["attributes"])) continue;
    const name = String(event["name"]);
    const role = side === "user" ? askedEvents[name] : answeredEvents[name];
    if (!role) continue;
    const { attributes } = event;
    const detail = attributes[side === "user" ? "gen_ai.input.messages" : "gen_ai.output.messages"];
    const value = detail ?? attributes["content"] ?? attributes["message"];
    const found = messagesIn({ value, spanId: span.span_id, attribute: name }, side);
    if (!found) continue;
    named ||= name;
    messages.push(...(detail ? found.value : found.value.map(one => ({ ...one, role }))));
  }
  return messages.length > 0 ? { value: messages, spanId: span.span_id, attribute: named } : null;
}

const askedEvents: Record<string, string> = {
  "gen_ai.system.message": "system",
  "gen_ai.user.message": "user",
  "gen_ai.assistant.message": "assistant",
  "gen_ai.tool.message": "tool",
  "gen_ai.client.inference.operation.details": "user",
};
const answeredEvents: Record<string, string> = {
  "gen_ai.choice": "assistant",
  "gen_ai.client.inference.operation.details": "assistant",
};
