// Reads a span by a table of attribute names: what most conventions need.

import type { Span } from "../../model/trace/trace.ts";
import { attributeOf, toolNameOf } from "./conversation.ts";
import { readFinishReasons } from "./finish-reasons.ts";
import { mayHaveCall } from "./may-call.ts";
import { inEvents } from "./message-events.ts";
import type { ReadMessage } from "./message-parts.ts";
import { dataIn, messagesIn } from "./messages.ts";
import type { Preset, ReadSpan, Sourced, SourcedUsage, SpanRole, Usage } from "./reading.ts";
import { idInRecords, textInRecords, usageInRecords } from "./record-values.ts";
import {
  attributesOf,
  type Parts,
  standard,
  type Table,
  type WholeTable,
  withStandard,
} from "./table-of-attributes.ts";
import { documentedTool, SpanOfTool } from "./tool-reading.ts";
import { modelInside, usageIn, usageInside, usageOf } from "./usage-values.ts";
import { idOf, nameOf, type Place, sourced, textOf, unflatten } from "./values.ts";

export function preset(own: Table): Preset {
  const { name, title, writes, marks, signs = [], scope, contentSwitches = [] } = own;
  const table = withStandard(own);
  return {
    name,
    title,
    writes,
    marks,
    signs,
    attributes: attributesOf(table),
    scope: scope ?? null,
    ids: {
      user: [...(own.userId ?? []), ...standard.userId],
      conversation: [...(own.conversationId ?? []), ...standard.conversationId],
    },
    contentSwitches,
    read: (span, at = 0) => new TableReading(span, table, at),
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
  readonly isTurn: boolean;
  readonly tellsCalls: boolean;
  readonly #table: WholeTable;
  /** Whether only `gen_ai.tool.name` makes the span that of a tool: what it says is then read as documented. */
  readonly #isNamedTool: boolean;
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
    const role = roleOf(span, table);
    this.#isNamedTool = (role === "step" || role === "other") && toolNameOf(span) !== null;
    this.role = this.#isNamedTool ? "tool" : role;
    this.cumulative = table.cumulative;
    this.tellsCalls = table.tellsCalls;
    this.isTurn = table.turns?.test(span.name) ?? false;
  }

  get asked() {
    if (this.#asked === undefined) {
      const asked = this.#messages(this.#table.asked, "user");
      this.#asked = this.#mended("asked", this.#history(asked) ?? asked);
    }
    return this.#asked;
  }

  get answered() {
    if (this.#answered === undefined) this.#answered = this.#mended("answered", this.#answer());
    return this.#answered;
  }

  mayCall(part: "asked" | "answered", known: ReadonlySet<string> | null): boolean {
    const { span } = this;
    const table = this.#table;
    if (table.mend?.[part] || span.events.length > 0 || span.log_records) return true;
    for (const attribute of table[part]) if (mayHaveCall(span, attribute, known)) return true;
    if (part === "answered")
      for (const attribute of table.calls) if (mayHaveCall(span, attribute, known)) return true;
    return false;
  }

  isDocumented(part: "asked" | "answered"): boolean {
    const { span } = this;
    const { mend, history, calls, [part]: attributes } = this.#table;
    if (mend?.[part] || history || calls.length > 0 || span.events.length > 0 || span.log_records)
      return false;
    const [documented] = standard[part === "asked" ? "input" : "output"];
    return attributes.every(
      one => one === documented || (!one.endsWith(".") && (span.attributes[one] ?? null) === null),
    );
  }

  get tool() {
    if (this.#tool === undefined) {
      const places = this.#isNamedTool ? documentedTool : this.#table.tool;
      const read = this.role === "tool" ? new SpanOfTool(this.span, places) : null;
      this.#tool = this.#mended("tool", read);
    }
    return this.#tool;
  }

  get usage() {
    if (this.#usage === undefined) {
      const usage = readUsage(this.span, this.#table) ?? this.#inside(usageInside);
      this.#usage = this.#mended("usage", usage);
    }
    return this.#usage;
  }

  get finishReasons() {
    const { finishReasons, answered } = this.#table;
    return this.role === "model" ? readFinishReasons(this.span, finishReasons, answered, valueAt) : null;
  }

  get model() {
    if (this.#model === undefined)
      this.#model = this.#mended("model", this.#text(this.#table.model) ?? this.#inside(modelInside));
    return this.#model;
  }

  get provider() {
    return this.#mended("provider", this.#text(this.#table.provider));
  }

  get conversationId() {
    return this.#mended("conversationId", this.#id(this.#table.conversationId));
  }

  get userId() {
    return this.#mended("userId", this.#id(this.#table.userId));
  }

  idsByKey(kind: "conversationId" | "userId") {
    const ids = new Map<string, Sourced<string>>();
    for (const place of this.#table[kind]) {
      const id = this.#mended(kind, this.#id([place]));
      if (id) ids.set(nameOf(place), id);
    }
    return ids;
  }

  #mended<Part extends keyof Parts>(part: Part, value: Parts[Part]): Parts[Part] {
    const mend = this.#table.mend?.[part] as
      | ((...given: [Parts[Part], Span, SpanRole]) => Parts[Part])
      | undefined;
    return mend ? mend(value, this.span, this.role) : value;
  }

  /** Of the answer of a model as its SDK recorded it, where the convention has no attributes for it. */
  #inside<T>(read: (found: Sourced<unknown> | null) => T | null): T | null {
    if (!this.#table.answerHasUsage || this.role !== "model") return null;
    for (const attribute of this.#table.answered) {
      const found = attribute.endsWith(".") ? null : read(sourced(this.span, attribute));
      if (found) return found;
    }
    return null;
  }

  #text(places: Place[]): Sourced<string> | null {
    return textOf(this.span, places) ?? textInRecords(this.span, places);
  }

  #id(places: Place[]): Sourced<string> | null {
    return idOf(this.span, places) ?? idInRecords(this.span, places);
  }

  #answer(): Sourced<ReadMessage[]> | null {
    const { answered, calls } = this.#table;
    const said = this.#messages(answered, "assistant");
    const called = calls.length > 0 && !said?.value.some(hasCall) ? callsBeside(this.span, calls) : null;
    if (said) return called ? { ...said, value: [...called.value, ...said.value] } : said;
    if (called) return called;
    const mayBeData =
      this.role === "agent" || this.role === "model" || (this.role === "step" && !this.span.parent_span_id);
    return mayBeData && this.span.status?.code !== 2 ? dataAt(this.span, answered) : null;
  }

  #history(asked: Sourced<ReadMessage[]> | null): Sourced<ReadMessage[]> | null {
    const { history } = this.#table;
    if (history === undefined || this.role === "model" || asked?.value.length !== 1) return null;
    const given = asked.attribute === history ? null : sourced(this.span, history);
    const messages = given && typeof given.value === "object" ? messagesIn(given, "user") : null;
    return messages && messages.value.length > 1 ? messages : null;
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

/** The calls in attributes that have nothing else; null if they have none. */
function callsBeside(span: Span, attributes: string[]): Sourced<ReadMessage[]> | null {
  const found = messagesAt(span, attributes, "assistant");
  const value = found?.value.filter(hasCall).map(one => ({ ...one, pieces: [], from: found.attribute }));
  return value && value.length > 0 ? { ...found!, value } : null;
}

const hasCall = ({ calls }: ReadMessage) => calls.length > 0;

function dataAt(span: Span, attributes: string[]): Sourced<ReadMessage[]> | null {
  for (const attribute of attributes) {
    const data = attribute.endsWith(".")
      ? null
      : dataIn(sourced(span, attribute), attributeOf(span, attribute));
    if (data) return data;
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
  return typeof operation === "string" && Object.hasOwn(operations, operation)
    ? operations[operation]!
    : null;
}

/** By any writer's name for them; what is not listed is a step. */
const operations: Record<string, SpanRole> = {
  chat: "model",
  completion: "model",
  acompletion: "model",
  text_completion: "model",
  atext_completion: "model",
  responses: "model",
  aresponses: "model",
  anthropic_messages: "model",
  generate_content: "model",
  agenerate_content: "model",
  stream_generate_content: "model",
  call_llm: "model",
  embeddings: "other",
  embedding: "other",
  aembedding: "other",
  execute_tool: "tool",
  invoke_agent: "agent",
  invoke_workflow: "agent",
  create_agent: "other",
  plan: "other",
  search_memory: "other",
  update_memory: "other",
  create_memory: "other",
  delete_memory: "other",
  retrieval: "other",
};
