// Sample conversations as steps of an agent, which become OTLP or JSON spans.

export type Attributes = Record<string, unknown>;

/** One step and its inner steps, which run one after another. */
export type Step = {
  name: string;
  /** Its own time, without the inner steps. */
  ms: number;
  attributes: Attributes;
  /** 1 is OK, 2 is ERROR. */
  status?: { code: 1 | 2; message?: string };
  steps: Step[];
  /** The span's parent is never sent, as after sampling or filtering. */
  lostParent?: true;
  /** The span has no start and end time. */
  untimed?: true;
};

export type PlacedStep = { step: Step; startMs: number; endMs: number; steps: PlacedStep[] };

/** Assigns times from `startMs` (epoch): half of a step's own time passes before its inner steps. */
export function placeSteps(step: Step, startMs: number): PlacedStep {
  let at = startMs + step.ms / 2;
  const steps = step.steps.map(inner => {
    const placed = placeSteps(inner, at);
    at = placed.endMs;
    return placed;
  });
  return { step, startMs, endMs: at + step.ms / 2, steps };
}

export function step(name: string, ms: number, attributes: Attributes = {}, steps: Step[] = []): Step {
  return { name, ms, attributes, steps };
}

/** A tool call with its arguments as JSON. */
export function toolStep(name: string, args: Attributes, ms = 120): Step {
  return step(`execute_tool ${name}`, ms, {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
    "gen_ai.tool.call.arguments": args,
  });
}

/** A call of the language model. */
export function modelStep(name: string, ms: number, attributes: Attributes): Step {
  const model = {
    "gen_ai.operation.name": "chat",
    "gen_ai.system": "mistral_ai",
    "gen_ai.request.model": "mistral-small-latest",
  };
  return step(name, ms, { ...model, ...attributes });
}

/** The user's message, or a conversation in which user and assistant alternate and the user has the last message. */
export function inputOf(...texts: string[]): Attributes {
  const messages = texts.map((text, at) =>
    message((texts.length - at) % 2 === 1 ? "user" : "assistant", text),
  );
  return { "gen_ai.input.messages": messages };
}

export function replyOf(text: string): Attributes {
  return { "gen_ai.output.messages": [message("assistant", text)] };
}

export function usageOf(inputTokens: number, outputTokens: number): Attributes {
  return { "gen_ai.usage.input_tokens": inputTokens, "gen_ai.usage.output_tokens": outputTokens };
}

/** Estimates the tokens of English text: one per 4 characters. */
export function tokensIn(text: string): number {
  return Math.ceil(text.length / 4);
}

function message(role: string, content: string) {
  return { role, parts: [{ type: "text", content }] };
}
