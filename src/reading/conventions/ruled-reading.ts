// Reads a span that a convention recognizes and rules of the agent give attributes: what rules give goes first.

import { ValueAllowance } from "../../model/json-text.ts";
import type { Span } from "../../model/trace/trace.ts";
import { attributeOf } from "../span/conversation.ts";
import type { ReadMessage } from "../span/message-parts.ts";
import type { ReadSpan, Sourced, SourcedUsage, SpanRole, ToolReading, Usage } from "../span/reading.ts";
import { isRuled, ownRules } from "../span/sources.ts";
import { asPrompt } from "../span/span-messages.ts";
import { readDocumented } from "../span/table.ts";
import { documentedTool, SpanOfTool } from "../span/tool-reading.ts";
import { usageKeys } from "../span/usage-keys.ts";
import { countOf } from "../span/values.ts";

/** The reading of its convention, unless rules gave the span something. */
export function withRules(span: Span, base: ReadSpan): ReadSpan {
  if (!span.translated) return base;
  const given = Object.entries(span.translated).filter(([, { convention }]) => convention === ownRules);
  if (given.length === 0) return base;
  const attributes = Object.fromEntries(given.map(([key]) => [key, span.attributes[key]]));
  const { log_records: _, ...rest } = span;
  const own = { ...rest, attributes, events: [] };
  return new RuledReading(own, readDocumented(own), base);
}

class RuledReading implements ReadSpan {
  readonly at: number;
  readonly span: Span;
  readonly convention: string | null;
  readonly role: SpanRole;
  readonly cumulative: boolean;
  readonly isTurn: boolean;
  readonly tellsCalls: boolean;
  /** With the attributes that rules gave, and no others. */
  readonly #given: Span;
  readonly #own: ReadSpan | null;
  readonly #base: ReadSpan;

  constructor(span: Span, own: ReadSpan | null, base: ReadSpan) {
    this.at = base.at;
    this.span = base.span;
    this.convention = base.convention;
    this.#given = span;
    this.#own = own;
    this.#base = base;
    this.role = roleOf(span, base.role);
    this.isTurn = base.isTurn;
    this.tellsCalls = base.tellsCalls;
    this.cumulative = base.cumulative && !usageKeys.some(([, key]) => isRuled(span, key));
  }

  /** What rules gave is not looked through: where they give something, whole messages are read. */
  mayCall(): boolean {
    return true;
  }

  isDocumented(): boolean {
    return false;
  }

  get asked() {
    return this.role === "tool" ? null : (this.#own?.asked ?? promptOf(this.#given) ?? this.#base.asked);
  }

  get answered() {
    return this.role === "tool" ? null : (this.#own?.answered ?? this.#base.answered);
  }

  get tool(): ToolReading | null {
    return this.role === "tool" ? new RuledTool(this.#given, this.#base.tool) : null;
  }

  get usage() {
    return usageOf(this.#given, this.#base.usage);
  }

  get finishReasons() {
    return this.#base.finishReasons;
  }

  get model() {
    return this.#own?.model ?? this.#base.model;
  }

  get provider() {
    return this.#own?.provider ?? this.#base.provider;
  }

  get conversationId() {
    return this.#own?.conversationId ?? this.#base.conversationId;
  }

  get userId() {
    return this.#own?.userId ?? this.#base.userId;
  }

  idsByKey(kind: "conversationId" | "userId") {
    return new Map([...this.#base.idsByKey(kind), ...(this.#own?.idsByKey(kind) ?? [])]);
  }
}

/** The messages of `gen_ai.prompt`, where a rule gave it; conventions do not read it. */
function promptOf(span: Span): Sourced<ReadMessage[]> | null {
  const attribute = "gen_ai.prompt";
  const prompt = attributeOf(span, attribute);
  if (prompt === undefined) return null;
  const value = asPrompt(prompt, ["attributes", attribute], new ValueAllowance());
  return value.length > 0 ? { value, spanId: span.span_id, attribute } : null;
}

/** The name of a tool makes the span that of a tool; a model makes a step a call of it. */
function roleOf(span: Span, role: SpanRole): SpanRole {
  if (isRuled(span, "gen_ai.tool.name")) return "tool";
  const isVague = role === "step" || role === "other";
  return isVague && isRuled(span, "gen_ai.request.model") ? "model" : role;
}

class RuledTool implements ToolReading {
  readonly name: string;
  readonly nameFrom: string | null;
  readonly id: string | null;
  readonly #own: SpanOfTool;
  readonly #base: ToolReading | null;

  constructor(span: Span, base: ToolReading | null) {
    this.#own = new SpanOfTool(span, documentedTool);
    this.#base = base;
    const named = this.#own.nameFrom === null && base ? base : this.#own;
    this.name = named.name;
    this.nameFrom = named.nameFrom;
    this.id = this.#own.id ?? base?.id ?? null;
  }

  get arguments(): Sourced<unknown> | null {
    return this.#own.arguments ?? this.#base?.arguments ?? null;
  }

  get result(): Sourced<unknown> | null {
    return this.#own.result ?? this.#base?.result ?? null;
  }
}

/** Each count that a rule gave, in place of the convention's. */
function usageOf(span: Span, base: SourcedUsage | null): SourcedUsage | null {
  const value: Usage = {
    input: null,
    output: null,
    reasoning: null,
    cached: null,
    written: null,
    ...base?.value,
  };
  const from = { ...base?.from };
  let attribute: string | undefined;
  for (const [kind, key] of usageKeys) {
    const count = countOf(attributeOf(span, key));
    if (count === null) continue;
    value[kind] = count;
    from[kind] = key;
    attribute ??= key;
  }
  if (attribute === undefined) return base;
  for (const kind of Object.keys(value) as (keyof Usage)[]) {
    if (base && value[kind] !== null) from[kind] ??= base.attribute;
  }
  return { value, spanId: span.span_id, attribute, from };
}
