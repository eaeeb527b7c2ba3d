// What the spans of the benchmarks' traces carry, in the attributes of several conventions: like conversations, 28 to
// 35 KB as JSON.
import type { Attributes } from "@opentelemetry/api";

/** `documented`: OpenTelemetry's own attributes, which need no convention. */
export type Shape = "documented" | "openinference" | "openllmetry";

export const shapes: readonly Shape[] = ["documented", "openinference", "openllmetry"];

export const spansPerTrace = 12;

type Kind = "root" | "tool" | "chat";

/** The scope, names and attributes of a trace's spans, by number. */
export function contentsOf(shape: Shape): {
  scope: string;
  spans: { name: string; attributes: Attributes }[];
} {
  const { scope, noteWords, kinds } = tables[shape];
  const spans = Array.from({ length: spansPerTrace }, (_, number) => {
    const kind: Kind = number === 0 ? "root" : number % 3 === 0 ? "tool" : "chat";
    const name = kind === "tool" ? "execute_tool lookup_order" : "chat gpt-4o-mini";
    const note = noteWords ? { "bench.note": prose(number * 7 + 3, noteWords) } : {};
    return { name, attributes: { ...kinds[kind](number), ...note } };
  });
  return { scope, spans };
}

const syllables = "ba ce di fo gu la me ni po ru sa te vi zo an er in on st tr".split(" ");

/** Deterministic text that compresses about as well as conversations do (to a quarter). */
function prose(seed: number, words: number): string {
  let state = seed * 2_654_435_761;
  const next = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  // Few words are frequent and many are rare.
  const word = () => {
    const rank = next(next(900) + 1);
    return [rank % 20, Math.floor(rank / 20) % 20, rank % 7].map(at => syllables[at]).join("");
  };
  return Array.from({ length: words }, word).join(" ");
}

function message(role: string, content: string) {
  return { role, parts: [{ type: "text", content }] };
}

const kindsOfDocumented: Record<Kind, (seed: number) => Attributes> = {
  root: seed => ({
    "http.response.status_code": 200,
    "gen_ai.response.text": `Your order 1042 ships tomorrow. ${prose(seed, 60)}`,
  }),
  tool: seed => ({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "lookup_order",
    "gen_ai.tool.call.arguments": JSON.stringify({ order: 1042, note: prose(seed, 15) }),
    "gen_ai.tool.call.result": JSON.stringify({ status: "packed", history: prose(seed + 1, 90) }),
  }),
  chat: seed => ({
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gpt-4o-mini",
    "gen_ai.input.messages": JSON.stringify([message("user", `Where is my order? ${prose(seed, 110)}`)]),
    "gen_ai.output.messages": JSON.stringify([message("assistant", `It is packed. ${prose(seed + 2, 90)}`)]),
    "gen_ai.usage.input_tokens": 200 + seed,
    "gen_ai.usage.output_tokens": 40 + seed,
  }),
};

const toolSchema = JSON.stringify({
  type: "function",
  function: {
    name: "lookup_order",
    description: "Looks up an order.",
    parameters: { type: "object", properties: { order: { type: "integer" }, note: { type: "string" } } },
  },
});

/** The request and its answer are in JSON and once more flattened. */
const kindsOfOpenInference: Record<Kind, (seed: number) => Attributes> = {
  root: seed => ({
    "openinference.span.kind": "CHAIN",
    "input.value": `Where is my order? ${prose(seed, 40)}`,
    "output.value": `Your order 1042 ships tomorrow. ${prose(seed, 60)}`,
  }),
  tool: seed => ({
    "openinference.span.kind": "TOOL",
    "tool.name": "lookup_order",
    "input.value": JSON.stringify({ order: 1042, note: prose(seed, 15) }),
    "input.mime_type": "application/json",
    "output.value": JSON.stringify({ status: "packed", history: prose(seed + 1, 60) }),
  }),
  chat: seed => {
    const asked = [
      { role: "system", content: `You help with orders. ${prose(1, 25)}` },
      { role: "user", content: `Where is my order? ${prose(seed, 45)}` },
    ];
    const answer = { role: "assistant", content: `It is packed. ${prose(seed + 2, 40)}` };
    return {
      "openinference.span.kind": "LLM",
      "llm.model_name": "gpt-4o-mini",
      "llm.system": "openai",
      "llm.invocation_parameters": JSON.stringify({ model: "gpt-4o-mini", temperature: 0 }),
      "llm.tools.0.tool.json_schema": toolSchema,
      "input.value": JSON.stringify({ model: "gpt-4o-mini", messages: asked }),
      "input.mime_type": "application/json",
      "output.value": JSON.stringify({ id: `chatcmpl-${seed}`, choices: [{ index: 0, message: answer }] }),
      "output.mime_type": "application/json",
      ...Object.fromEntries(
        asked.flatMap(({ role, content }, at) => [
          [`llm.input_messages.${at}.message.role`, role],
          [`llm.input_messages.${at}.message.content`, content],
        ]),
      ),
      "llm.output_messages.0.message.role": answer.role,
      "llm.output_messages.0.message.content": answer.content,
      "llm.token_count.prompt": 200 + seed,
      "llm.token_count.completion": 40 + seed,
      "llm.token_count.total": 240 + 2 * seed,
    };
  },
};

/** Each call of the model repeats the conversation and the definitions of tools. */
const kindsOfOpenLlmetry: Record<Kind, (seed: number) => Attributes> = {
  root: seed => ({
    "traceloop.span.kind": "workflow",
    "traceloop.entity.name": "orders",
    "traceloop.entity.input": JSON.stringify({ args: [`Where is my order? ${prose(seed, 40)}`], kwargs: {} }),
    "traceloop.entity.output": JSON.stringify(`Your order 1042 ships tomorrow. ${prose(seed, 60)}`),
  }),
  tool: seed => ({
    "traceloop.span.kind": "tool",
    "traceloop.entity.name": "lookup_order",
    "traceloop.workflow.name": "orders",
    "traceloop.entity.input": JSON.stringify({
      args: [],
      kwargs: { order: 1042, note: prose(seed, 15) },
    }),
    "traceloop.entity.output": JSON.stringify({ status: "packed", history: prose(seed + 1, 60) }),
  }),
  chat: seed => ({
    "traceloop.workflow.name": "orders",
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4o-mini",
    "gen_ai.response.model": "gpt-4o-mini-2024-07-18",
    "gen_ai.tool.definitions": `[${toolSchema}]`,
    "gen_ai.input.messages": JSON.stringify([
      message("system", `You help with orders. ${prose(1, 50)}`),
      message("user", `Where is my order? ${prose(seed, 80)}`),
      {
        role: "assistant",
        parts: [{ type: "tool_call", id: "call_1", name: "lookup_order", arguments: { order: 1042 } }],
      },
      {
        role: "tool",
        parts: [{ type: "tool_call_response", id: "call_1", response: prose(seed + 1, 60) }],
      },
    ]),
    "gen_ai.output.messages": JSON.stringify([message("assistant", `It is packed. ${prose(seed + 2, 70)}`)]),
    "gen_ai.usage.input_tokens": 200 + seed,
    "gen_ai.usage.output_tokens": 40 + seed,
  }),
};

const tables = {
  documented: { scope: "bench", noteWords: 40, kinds: kindsOfDocumented },
  openinference: { scope: "openinference.instrumentation.openai", noteWords: 0, kinds: kindsOfOpenInference },
  openllmetry: { scope: "opentelemetry.instrumentation.openai.v1", noteWords: 0, kinds: kindsOfOpenLlmetry },
};
