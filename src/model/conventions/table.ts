// Reads a span by a table of attribute names: what most conventions need.
import { attributeOf, toolNameOf } from "../conversation/conversation.ts";
import type { ReadMessage } from "../trace/message-parts.ts";
import type { Span } from "../trace/trace.ts";
import type { ContentSwitch } from "./content-switch.ts";
import { mayHaveCall } from "./may-call.ts";
import { inEvents } from "./message-events.ts";
import { messagesIn } from "./messages.ts";
import type { Preset, Sourced, SourcedUsage, SpanReading, SpanRole, Usage } from "./reading.ts";
import { textInRecords, usageInRecords } from "./record-values.ts";
import { SpanOfTool, type ToolAttributes } from "./tool-reading.ts";
import { sourced, textOf, unflatten, usageIn, usageOf } from "./values.ts";

/** Attribute names, the first that has a value counts. A name that ends in a dot is the prefix of a flattened list. */
export type Table = ToolAttributes & {
  name: string;
  title: string;
  writes: string;
  marks: string[];
  scope?: RegExp;
  contentSwitches?: ContentSwitch[];
  /** The attribute that names the kind of span, and the role of each kind in lower case. */
  kinds?: { attribute: string; roles: Record<string, SpanRole> };
  /** The role where `kinds` says nothing. */
  role?: (span: Span) => SpanRole | null;
  input?: string[];
  output?: string[];
  usage?: { input: string[]; output: string[]; reasoning?: string[]; cached?: string[]; written?: string[] };
  /** Attributes with all counts in JSON. */
  usageJson?: string[];
  /** Whether the usage of a span includes that of earlier spans with the same parent. */
  cumulative?: boolean;
  model?: string[];
  provider?: string[];
  conversationId?: string[];
  userId?: string[];
  /** Changes what the table says, by part of the reading. */
  mend?: Mends;
};

type Parts = Omit<SpanReading, "role" | "cumulative" | "mayCall">;

type Mends = {
  [Part in keyof Parts]?: (value: Parts[Part], span: Span, role: SpanRole) => Parts[Part];
};

/** The attributes that OpenTelemetry names, which most conventions write beside their own. */
const standard = {
  input: ["gen_ai.input.messages"],
  output: ["gen_ai.output.messages", "gen_ai.response.text"],
  usage: {
    input: ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"],
    output: ["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"],
    reasoning: ["gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"],
    cached: [
      "gen_ai.usage.cache_read.input_tokens",
      "gen_ai.usage.cache_read_input_tokens",
      "gen_ai.usage.cached_input_tokens",
    ],
    written: [
      "gen_ai.usage.cache_write.input_tokens",
      "gen_ai.usage.cache_creation.input_tokens",
      "gen_ai.usage.cache_write_input_tokens",
      "gen_ai.usage.cache_creation_input_tokens",
    ],
    total: [
      "gen_ai.usage.total_tokens",
      "llm.usage.total_tokens",
      "llm.token_count.total",
      "ai.usage.totalTokens",
    ],
  },
  model: ["gen_ai.response.model", "gen_ai.request.model"],
  provider: ["gen_ai.provider.name", "gen_ai.system"],
  conversationId: ["gen_ai.conversation.id", "session.id"],
  userId: ["user.id"],
};

export function preset(own: Table): Preset {
  const { name, title, writes, marks, scope, contentSwitches = [] } = own;
  const table = withStandard(own);
  return {
    name,
    title,
    writes,
    marks,
    scope: scope ?? null,
    ids: {
      user: [...(own.userId ?? []), ...standard.userId],
      conversation: [...(own.conversationId ?? []), ...standard.conversationId],
    },
    contentSwitches,
    read: span => new TableReading(span, table),
  };
}

/** With OpenTelemetry's attributes of usage after its own. */
type WholeTable = Table & { counts: typeof standard.usage };

function withStandard(table: Table): WholeTable {
  const { usage } = standard;
  const after = (kind: Exclude<keyof typeof usage, "total">) => [
    ...(table.usage?.[kind] ?? []),
    ...usage[kind],
  ];
  const counts = {
    input: after("input"),
    output: after("output"),
    reasoning: after("reasoning"),
    cached: after("cached"),
    written: after("written"),
    total: usage.total,
  };
  return { ...table, counts };
}

/**
 * Reads each part when it is first asked for: ingestion needs few of them, and parsing the histories of model calls takes
 * most of the time.
 */
class TableReading implements SpanReading {
  readonly role: SpanRole;
  readonly cumulative: boolean;
  readonly #span: Span;
  readonly #table: WholeTable;
  readonly #parts: Partial<Parts> = {};

  constructor(span: Span, table: WholeTable) {
    this.#span = span;
    this.#table = table;
    this.role = roleOf(span, table);
    this.cumulative = table.cumulative ?? false;
  }

  get asked() {
    return this.#part("asked", () => this.#messages(this.#table.input, standard.input, "user"));
  }

  get answered() {
    return this.#part("answered", () => this.#messages(this.#table.output, standard.output, "assistant"));
  }

  mayCall(part: "asked" | "answered", known: ReadonlySet<string> | null): boolean {
    const { input = [], output = [], mend } = this.#table;
    if (mend?.[part] || this.#span.events.length > 0 || this.#span.log_records) return true;
    const [own, common] = part === "asked" ? [input, standard.input] : [output, standard.output];
    const mayHave = (attribute: string) => mayHaveCall(this.#span, attribute, known);
    return own.some(mayHave) || common.some(mayHave);
  }

  get tool() {
    return this.#part("tool", () => (this.role === "tool" ? new SpanOfTool(this.#span, this.#table) : null));
  }

  get usage() {
    return this.#part("usage", () => readUsage(this.#span, this.#table));
  }

  get model() {
    return this.#part("model", () => this.#text("model"));
  }

  get provider() {
    return this.#part("provider", () => this.#text("provider"));
  }

  get conversationId() {
    return this.#part("conversationId", () => this.#text("conversationId"));
  }

  get userId() {
    return this.#part("userId", () => this.#text("userId"));
  }

  #part<Part extends keyof Parts>(part: Part, read: () => Parts[Part]): Parts[Part] {
    const known: Parts[Part] | undefined = this.#parts[part];
    if (known !== undefined) return known;
    const mend = this.#table.mend?.[part] as
      | ((...given: [Parts[Part], Span, SpanRole]) => Parts[Part])
      | undefined;
    const value = mend ? mend(read(), this.#span, this.role) : read();
    this.#parts[part] = value;
    return value;
  }

  #text(part: "model" | "provider" | "conversationId" | "userId"): Sourced<string> | null {
    const [own, common] = [this.#table[part] ?? [], standard[part]];
    return (
      textOf(this.#span, own) ?? textOf(this.#span, common) ?? textInRecords(this.#span, [...own, ...common])
    );
  }

  #messages(own: string[] = [], common: string[], side: "user" | "assistant"): Sourced<ReadMessage[]> | null {
    if (this.role === "tool") return null;
    const span = this.#span;
    return messagesAt(span, own, side) ?? messagesAt(span, common, side) ?? inEvents(span, side);
  }
}

function messagesAt(
  span: Span,
  attributes: string[],
  side: "user" | "assistant",
): Sourced<ReadMessage[]> | null {
  for (const attribute of attributes) {
    const found = messagesIn(valueAt(span, attribute), side);
    if (found) return found;
  }
  return null;
}

function readUsage(span: Span, { counts, usageJson }: WholeTable): SourcedUsage | null {
  const counted = usageOf(span, counts);
  return counted ?? (usageJson ? firstUsage(span, usageJson) : null) ?? usageInRecords(span, counts);
}

/** Reads a span by the documented attributes alone; null if it has none of them. */
export function readDocumented(span: Span): SpanReading | null {
  for (const key in span.attributes) {
    if (key.startsWith("gen_ai.") || key === "session.id" || key === "user.id") {
      return new TableReading(span, documented);
    }
  }
  return null;
}

const documented = withStandard({
  name: "",
  title: "",
  writes: "",
  marks: [],
  role: span =>
    toolNameOf(span) === null ? (standardRole(span) ?? (isModelCall(span) ? "model" : "other")) : "tool",
});

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
  const kind = kinds && textOf(span, [kinds.attribute])?.value.toLowerCase();
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
