// OpenInference, Python and JavaScript: lists are flattened into `llm.input_messages.N.*`.
import { textsOfTurn } from "../span/signs.ts";
import { preset } from "../span/table.ts";
import { liteLlmContent } from "./litellm.ts";

export const kindsOfOpenInference = {
  agent: "agent",
  chain: "step",
  llm: "model",
  tool: "tool",
  retriever: "other",
  embedding: "other",
  reranker: "other",
  guardrail: "other",
  evaluator: "other",
} as const;

export const openInference = preset({
  name: "openinference",
  title: "OpenInference",
  writes: "OpenInference, the instrumentations by Arize for LangChain, LlamaIndex, OpenAI and many more.",
  marks: ["openinference.span.kind"],
  signs: [
    {
      way: "An OpenTelemetry GenAI instrumentation of the same library sends them.",
      attributes: {
        "openinference.span.kind": textsOfTurn,
        "llm.input_messages.": ["input"],
        "llm.prompts.": ["input"],
        "llm.output_messages.": ["reply"],
        "llm.token_count.": ["usage"],
        "llm.model_name": textsOfTurn,
      },
    },
  ],
  contentSwitches: [
    ...liteLlmContent,
    {
      says: "It writes messages unless these variables, or hide_inputs and hide_outputs in its TraceConfig, hide them.",
      lines: ["OPENINFERENCE_HIDE_INPUTS=false", "OPENINFERENCE_HIDE_OUTPUTS=false"],
    },
  ],
  kinds: { attribute: "openinference.span.kind", roles: kindsOfOpenInference },
  input: ["llm.input_messages.", "input.value"],
  // LangChain's, where the flattened list has only the first message.
  history: "input.value",
  output: ["llm.output_messages.", "output.value"],
  toolName: ["tool.name", "tool_call.function.name"],
  toolId: ["tool_call.id", "tool.id"],
  toolArguments: ["input.value", "tool_call.function.arguments"],
  toolResult: ["output.value"],
  usage: {
    input: ["llm.token_count.prompt"],
    output: ["llm.token_count.completion"],
    reasoning: ["llm.token_count.completion_details.reasoning"],
    cached: ["llm.token_count.prompt_details.cache_read"],
    written: ["llm.token_count.prompt_details.cache_write"],
  },
  finishReasons: ["llm.finish_reason"],
  model: ["llm.model_name"],
  provider: ["llm.provider", "llm.system"],
  conversationId: ["session.id", "metadata>session_id", "metadata>thread_id", "litellm.trace_id"],
  userId: ["user.id", "metadata>user_id"],
  mend: {
    // LiteLLM makes one up for each call where nobody set it.
    conversationId: id => (id?.attribute === "litellm.trace_id" && uuid.test(id.value) ? null : id),
  },
});

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
