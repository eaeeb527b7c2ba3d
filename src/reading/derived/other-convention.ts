// Recognizes attributes of other tracing conventions, to tell users which GenAI attributes are missing.
import type { Derived, Span } from "../../model/trace/trace.ts";

/** What a trace may lack, with the attributes that provide it. */
const attributesByLack = {
  input: "gen_ai.input.messages",
  reply: "gen_ai.output.messages",
  toolName: "gen_ai.tool.name",
  toolArguments: "gen_ai.tool.call.arguments",
  usage: "gen_ai.usage.input_tokens and gen_ai.usage.output_tokens",
} as const;

export type Lack = keyof typeof attributesByLack;

/** What an attribute provides in its convention. A key that ends in a dot is a prefix. */
type Sign = { key: string; convention: string; standsFor: readonly Lack[] };

const conversation = ["input", "reply"] as const;

type Signs = Record<string, readonly Lack[]>;

/**
 * By convention: how its users can send the GenAI attributes, and its own attributes. `claims`: it also writes attributes of
 * other conventions, which say nothing about these on its spans. `scope`: its attributes are also those of another convention,
 * and are its own on the spans of this scope alone.
 */
export const conventions: Record<string, { way: string; signs: Signs; claims?: true; scope?: string }> = {
  OpenInference: {
    way: "An OpenTelemetry GenAI instrumentation of the same library sends them.",
    signs: {
      "openinference.span.kind": conversation,
      "llm.input_messages.": ["input"],
      "llm.prompts.": ["input"],
      "llm.output_messages.": ["reply"],
      "llm.token_count.": ["usage"],
      "llm.model_name": conversation,
    },
  },
  "Vercel AI SDK before 7": {
    way: "AI SDK 7 with @ai-sdk/otel sends them.",
    signs: {
      "ai.prompt": ["input"],
      "ai.response.": ["reply"],
      "ai.toolCall.name": ["toolName"],
      "ai.toolCall.args": ["toolArguments"],
      "ai.usage.": ["usage"],
      "ai.operationId": conversation,
    },
  },
  n8n: {
    way: "Agent spans of n8n 2.33 and later carry them; other nodes need them set by the workflow.",
    signs: { "n8n.": conversation },
  },
  "OpenLLMetry before 2026": {
    way: "A current OpenLLMetry release sends them.",
    signs: {
      "gen_ai.prompt.": ["input"],
      "gen_ai.completion.": ["reply"],
      "gen_ai.usage.prompt_tokens": ["usage"],
      "gen_ai.usage.completion_tokens": ["usage"],
      "traceloop.entity.input": ["input"],
      "traceloop.entity.output": ["reply"],
      "traceloop.": conversation,
    },
  },
  LiteLLM: {
    way: wayOf("LiteLLM"),
    scope: "litellm",
    signs: {
      "gen_ai.prompt.": ["input"],
      "gen_ai.completion.": ["reply"],
      "gen_ai.usage.prompt_tokens": ["usage"],
      "gen_ai.usage.completion_tokens": ["usage"],
    },
  },
  LangSmith: {
    way: "Set them on the model's and the tools' spans beside LangSmith's own.",
    signs: { "gen_ai.completion": ["reply"], "langsmith.": conversation },
  },
  "Google ADK": {
    way: "Set them on the model's and the tools' spans beside ADK's own.",
    signs: {
      "gcp.vertex.agent.llm_request": ["input"],
      "gcp.vertex.agent.llm_response": ["reply"],
      "gcp.vertex.agent.tool_call_args": ["toolArguments"],
      "gcp.vertex.agent.": conversation,
    },
  },
  Langfuse: {
    way: wayOf("Langfuse"),
    signs: {
      "langfuse.observation.input": ["input"],
      "langfuse.observation.output": ["reply"],
      "langfuse.observation.usage_details": ["usage"],
    },
  },
  MLflow: {
    way: wayOf("MLflow"),
    signs: {
      "mlflow.spanInputs": ["input"],
      "mlflow.spanOutputs": ["reply"],
      "mlflow.chat.tokenUsage": ["usage"],
    },
  },
  Genkit: {
    way: wayOf("Genkit"),
    signs: { "genkit:input": ["input"], "genkit:output": ["reply", "usage"] },
  },
  Laminar: {
    way: wayOf("Laminar"),
    signs: { "lmnr.span.input": ["input"], "lmnr.span.output": ["reply"] },
  },
  LangWatch: {
    way: wayOf("LangWatch"),
    signs: {
      "langwatch.input": ["input"],
      "langwatch.output": ["reply"],
      "langwatch.span.type": conversation,
    },
  },
  OpenLIT: {
    way: wayOf("OpenLIT"),
    signs: { "gen_ai.workflow.input": ["input"], "gen_ai.workflow.output": ["reply"] },
  },
  "Spring AI": {
    way: wayOf("Spring AI"),
    signs: {
      "spring.ai.tool.definition.name": ["toolName"],
      "spring.ai.tool.call.arguments": ["toolArguments"],
    },
  },
  "Strands Agents": {
    way: wayOf("Strands Agents"),
    signs: { "event_loop.cycle_id": conversation },
  },
  "Pydantic AI": {
    way: wayOf("Pydantic AI"),
    signs: { "pydantic_ai.all_messages": ["input"] },
  },
  "Pydantic AI before 1.0": {
    way: "Current releases of Pydantic AI send them.",
    signs: { all_messages_events: conversation },
  },
  Mastra: {
    way: wayOf("Mastra"),
    signs: { "mastra.span.type": conversation, "gen_ai.tool.input": ["toolArguments"] },
    claims: true,
  },
  VoltAgent: {
    way: wayOf("VoltAgent"),
    signs: { "voltagent.": conversation },
    claims: true,
  },
};

/** Those that no release of the SDK sends. */
function wayOf(title: string): string {
  return `Set them yourself, or switch on ${title} in the agent's settings, Conventions.`;
}

const signs: Sign[] = [];
/** Those that count on spans of any scope, by key. */
const general = new Map<string, Sign>();
/** By scope: those that count on its spans instead, by key. */
const ofScopes = new Map<string, Map<string, Sign>>();
for (const [convention, { signs: own, scope }] of Object.entries(conventions)) {
  const added = Object.entries(own).map(([key, standsFor]) => ({ key, convention, standsFor }));
  signs.push(...added);
  const counted = scope === undefined ? general : new Map<string, Sign>();
  for (const sign of added) counted.set(sign.key, sign);
  if (scope !== undefined) ofScopes.set(scope, counted);
}

/** Matches the longest key, regardless of the order of the table. */
const anySign = new RegExp(
  `^(?:${[...new Set(signs.map(({ key }) => key))]
    .sort((a, b) => b.length - a.length)
    .map(key => key.replaceAll(".", "\\.") + (key.endsWith(".") ? "" : "(?![^.])"))
    .join("|")})`,
);

/**
 * The other conventions whose attributes provide something the trace lacks, with those attributes (`*` for prefixes) and
 * what to send instead; null if there are none.
 */
export function findOtherConvention(spans: Span[], lacks: ReadonlySet<Lack>): Derived["otherConvention"] {
  if (lacks.size === 0) return null;
  const found = new Set<Sign>();
  for (const span of spans) {
    for (const sign of signsOf(span)) if (sign.standsFor.some(lack => lacks.has(lack))) found.add(sign);
  }
  if (found.size === 0) return null;

  // In the order of the table, so that the result does not depend on the order of spans and attributes.
  const matched = signs.filter(sign => found.has(sign));
  const names = [...new Set(matched.map(sign => sign.convention))];
  const missing = (Object.keys(attributesByLack) as Lack[]).filter(
    lack => lacks.has(lack) && matched.some(sign => sign.standsFor.includes(lack)),
  );
  return {
    name: names.join(", "),
    found: matched.map(({ key }) => (key.endsWith(".") ? `${key}*` : key)),
    send: [
      `Send ${missing.map(lack => attributesByLack[lack]).join(", ")}.`,
      ...names.map(name => conventions[name]!.way),
    ].join(" "),
  };
}

/** Those of the convention that claims the span, else all. */
function signsOf(span: Span): Sign[] {
  const own = ofScopes.get(span.scope?.name ?? "");
  const matched: Sign[] = [];
  for (const key in span.attributes) {
    const match = anySign.exec(key)?.[0];
    if (match === undefined) continue;
    const sign = own?.get(match) ?? general.get(match);
    if (sign) matched.push(sign);
  }
  const owner = matched.find(({ convention }) => conventions[convention]!.claims)?.convention;
  return owner === undefined ? matched : matched.filter(({ convention }) => convention === owner);
}
