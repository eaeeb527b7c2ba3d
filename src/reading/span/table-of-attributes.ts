// The tables of attribute names by which spans are read, and how OpenTelemetry's own names complete them.

import type { Span } from "../../model/trace/trace.ts";
import type { ContentSwitch, ReadSpan, SpanRole } from "./reading.ts";
import type { Signs } from "./signs.ts";
import { type ToolAttributes, type ToolPlaces, toolPlacesOf } from "./tool-reading.ts";
import { type Place, placesOf } from "./values.ts";

/** Attribute names, the first that has a value counts. A name that ends in a dot is the prefix of a flattened list. */
export type Table = ToolAttributes & {
  name: string;
  title: string;
  writes: string;
  marks: string[];
  signs?: Signs[];
  scope?: RegExp;
  contentSwitches?: ContentSwitch[];
  /** The attribute that names the kind of span, and the role of each kind in lower case. */
  kinds?: { attribute: string; roles: Record<string, SpanRole> };
  /** The role where `kinds` says nothing. */
  role?: (span: Span) => SpanRole | null;
  /** Names of spans that are one turn each of a session, of which a trace may hold several. */
  turns?: RegExp;
  input?: string[];
  /** That of them which may have more messages of what an agent was given than the one of an earlier attribute. */
  history?: string;
  output?: string[];
  /** Attributes with nothing but calls, beside the output. */
  calls?: string[];
  usage?: { input: string[]; output: string[]; reasoning?: string[]; cached?: string[]; written?: string[] };
  /** Attributes with all counts in JSON. */
  usageJson?: string[];
  /** Whether the answer of a model, as its SDK recorded it, has usage and model that no attribute has. */
  answerHasUsage?: boolean;
  /** Whether its messages tell calls that those of models do not, although it is none. */
  tellsCalls?: boolean;
  /** Whether the usage of a span includes that of earlier spans with the same parent. */
  cumulative?: boolean;
  finishReasons?: string[];
  model?: string[];
  provider?: string[];
  conversationId?: string[];
  userId?: string[];
  /** Changes what the table says, by part of the reading. */
  mend?: Mends;
};

export type Parts = Pick<
  ReadSpan,
  "asked" | "answered" | "tool" | "usage" | "model" | "provider" | "conversationId" | "userId"
>;

type Mends = {
  [Part in keyof Parts]?: (value: Parts[Part], span: Span, role: SpanRole) => Parts[Part];
};

/** The attributes that OpenTelemetry names, which most conventions write beside their own. */
export const standard = {
  input: ["gen_ai.input.messages"],
  output: ["gen_ai.output.messages", "gen_ai.response.text"],
  usage: {
    input: ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"],
    output: ["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"],
    reasoning: [
      "gen_ai.usage.reasoning.output_tokens",
      "gen_ai.usage.reasoning_tokens",
      "gen_ai.usage.details.reasoning_tokens",
      "gen_ai.usage.details.thoughts_tokens",
    ],
    cached: [
      "gen_ai.usage.cache_read.input_tokens",
      "gen_ai.usage.cache_read_input_tokens",
      "gen_ai.usage.cached_input_tokens",
      "gen_ai.usage.details.cache_read_tokens",
      "gen_ai.usage.details.cached_tokens",
      "gen_ai.usage.details.cache_read_input_tokens",
    ],
    written: [
      "gen_ai.usage.cache_write.input_tokens",
      "gen_ai.usage.cache_creation.input_tokens",
      "gen_ai.usage.cache_write_input_tokens",
      "gen_ai.usage.cache_creation_input_tokens",
      "gen_ai.usage.details.cache_write_tokens",
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

/** With OpenTelemetry's attributes after its own. */
export type WholeTable = {
  [Same in
    | "name"
    | "kinds"
    | "role"
    | "turns"
    | "history"
    | "usageJson"
    | "answerHasUsage"
    | "mend"]: Table[Same];
} & {
  cumulative: boolean;
  tellsCalls: boolean;
  kindPlaces: Place[] | null;
  asked: string[];
  answered: string[];
  calls: string[];
  finishReasons: string[];
  tool: ToolPlaces;
  counts: typeof standard.usage;
  model: Place[];
  provider: Place[];
  conversationId: Place[];
  userId: Place[];
};

/** All that a table names. */
export function attributesOf(table: WholeTable): string[] {
  const { asked, answered, calls, finishReasons, usageJson = [], tool, counts, kindPlaces } = table;
  const places = [tool.name, tool.id, kindPlaces ?? [], table.model, table.provider, table.conversationId];
  return [
    ...[...asked, ...answered, ...calls, ...finishReasons, ...usageJson, ...tool.arguments, ...tool.result],
    ...Object.values(counts).flat(),
    ...[...places.flat(), ...table.userId].map(({ key }) => key),
  ];
}

export function withStandard(table: Table): WholeTable {
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
    turns: table.turns,
    history: table.history,
    usageJson: table.usageJson,
    answerHasUsage: table.answerHasUsage,
    mend: table.mend,
    cumulative: table.cumulative ?? false,
    tellsCalls: table.tellsCalls ?? false,
    kindPlaces: table.kinds ? placesOf([table.kinds.attribute]) : null,
    asked: [...(table.input ?? []), ...standard.input],
    answered: [...(table.output ?? []), ...standard.output],
    calls: table.calls ?? [],
    finishReasons: table.finishReasons ?? [],
    tool: toolPlacesOf(table),
    counts,
    model: placesOf(table.model, standard.model),
    provider: placesOf(table.provider, standard.provider),
    conversationId: placesOf(table.conversationId, standard.conversationId),
    userId: placesOf(table.userId, standard.userId),
  };
}
