// Reads a span by a table of attribute names: what most conventions need.
import { attributeOf, toolNameOf } from "../conversation/conversation.ts";
import type { ReadMessage } from "../trace/message-parts.ts";
import type { Span } from "../trace/trace.ts";
import type { ContentSwitch } from "./content-switch.ts";
import { mayHaveCall } from "./may-call.ts";
import { inEvents } from "./message-events.ts";
import { messagesIn } from "./messages.ts";
import type { Preset, ReadSpan, Sourced, SourcedUsage, SpanRole, Usage } from "./reading.ts";
import { textInRecords, usageInRecords } from "./record-values.ts";
import { SpanOfTool, type ToolAttributes, type ToolPlaces, toolPlacesOf } from "./tool-reading.ts";
import { type Place, placesOf, sourced, textOf, unflatten, usageIn, usageOf } from "./values.ts";

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

type Parts = Pick<
  ReadSpan,
  "asked" | "answered" | "tool" | "usage" | "model" | "provider" | "conversationId" | "userId"
>;

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
    read: (span, at = 0) => new TableReading(span, table, at),
  };
}

/** With OpenTelemetry's attributes after its own. */
type WholeTable = { [Same in "name" | "kinds" | "role" | "usageJson" | "mend"]: Table[Same] } & {
  cumulative: boolean;
  kindPlaces: Place[] | null;
  asked: string[];
  answered: string[];
  tool: ToolPlaces;
  counts: typeof standard.usage;
  model: Place[];
  provider: Place[];
  conversationId: Place[];
  userId: Place[];
};

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
  return {
    name: table.name,
    kinds: table.kinds,
    role: table.role,
    usageJson: table.usageJson,
    mend: table.mend,
    cumulative: table.cumulative ?? false,
    kindPlaces: table.kinds ? placesOf([table.kinds.attribute]) : null,
    asked: [...(table.input ?? []), ...standard.input],
    answered: [...(table.output ?? []), ...standard.output],
    tool: toolPlacesOf(table),
    counts,
    model: placesOf(table.model, standard.model),
    provider: placesOf(table.provider, standard.provider),
    conversationId: placesOf(table.conversationId, standard.conversationId),
    userId: placesOf(table.userId, standard.userId),
  };
}

/**
 * Reads each part when it is first asked for: ingestion needs few of them, and parsing the histories of model calls takes
 * most of the time. Without closures and lists of its own: there is one for each span that arrives.
 */
class TableReading implements ReadSpan {
  readonly at: number;
  readonly span: Span;
  readonly convention: string | null;
  readonly role: SpanRole;
  readonly cumulative: boolean;
  readonly #table: WholeTable;
  #asked: Parts["asked"] | undefined = undefined;
  #answered: Parts["answered"] | undefined = undefined;
  #tool: Parts["tool"] | undefined = undefined;
  #usage: Parts["usage"] | undefined = undefined;
  #model: Parts["model"] | undefined = undefined;

  constructor(span: Span, table: WholeTable, at: number) {
    this.at = at;
    this.span = span;
    this.convention = table.name || null;
    this.#table = table;
    this.role = roleOf(span, table);
    this.cumulative = table.cumulative;
  }

  get asked() {
    if (this.#asked === undefined)
      this.#asked = this.#mended("asked", this.#messages(this.#table.asked, "user"));
    return this.#asked;
  }

  get answered() {
    if (this.#answered === undefined)
      this.#answered = this.#mended("answered", this.#messages(this.#table.answered, "assistant"));
    return this.#answered;
  }

  mayCall(part: "asked" | "answered", known: ReadonlySet<string> | null): boolean {
    const { span } = this;
    if (this.#table.mend?.[part] || span.events.length > 0 || span.log_records) return true;
    for (const attribute of this.#table[part]) if (mayHaveCall(span, attribute, known)) return true;
    return false;
  }

  get tool() {
    if (this.#tool === undefined) {
      const read = this.role === "tool" ? new SpanOfTool(this.span, this.#table.tool) : null;
      this.#tool = this.#mended("tool", read);
    }
    return this.#tool;
  }

  get usage() {
    if (this.#usage === undefined) this.#usage = this.#mended("usage", readUsage(this.span, this.#table));
    return this.#usage;
  }

  get model() {
    if (this.#model === undefined) this.#model = this.#mended("model", this.#text(this.#table.model));
    return this.#model;
  }

  get provider() {
    return this.#mended("provider", this.#text(this.#table.provider));
  }

  get conversationId() {
    return this.#mended("conversationId", this.#text(this.#table.conversationId));
  }

  get userId() {
    return this.#mended("userId", this.#text(this.#table.userId));
  }

  #mended<Part extends keyof Parts>(part: Part, value: Parts[Part]): Parts[Part] {
    const mend = this.#table.mend?.[part] as
      | ((...given: [Parts[Part], Span, SpanRole]) => Parts[Part])
      | undefined;
    return mend ? mend(value, this.span, this.role) : value;
  }

  #text(places: Place[]): Sourced<string> | null {
    return textOf(this.span, places) ?? textInRecords(this.span, places);
  }

  #messages(attributes: string[], side: "user" | "assistant"): Sourced<ReadMessage[]> | null {
    if (this.role === "tool") return null;
    return messagesAt(this.span, attributes, side) ?? inEvents(this.span, side);
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
export function readDocumented(span: Span, at = 0): ReadSpan | null {
  for (const key in span.attributes) {
    if (key.startsWith("gen_ai.") || key === "session.id" || key === "user.id") {
      return new TableReading(span, documented, at);
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

function roleOf(span: Span, { kinds, kindPlaces, role }: WholeTable): SpanRole {
  const own = role?.(span);
  if (own) return own;
  const kind = kindPlaces && textOf(span, kindPlaces)?.value.toLowerCase();
  if (kind) return kinds!.roles[kind] ?? "step";
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
