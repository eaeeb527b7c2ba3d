// OpenLLMetry and the Traceloop SDK, 0.40 to 0.62: `gen_ai.prompt.N.*` before 0.50, messages in JSON since.

import { attributeOf } from "../span/conversation.ts";
import { textsOfTurn } from "../span/signs.ts";
import { preset, standardRole } from "../span/table.ts";
import { openTelemetryContent } from "./opentelemetry.ts";

export const openLlmetry = preset({
  name: "openllmetry",
  title: "OpenLLMetry",
  writes: "OpenLLMetry and the Traceloop SDK, also versions before 2026.",
  marks: [
    "traceloop.span.kind",
    "traceloop.workflow.name",
    "traceloop.entity.name",
    "gen_ai.prompt.",
    "gen_ai.completion.",
    "traceloop.",
  ],
  signs: [
    {
      of: "OpenLLMetry before 2026",
      way: "A current OpenLLMetry release sends them.",
      attributes: {
        "gen_ai.prompt.": ["input"],
        "gen_ai.completion.": ["reply"],
        "gen_ai.usage.prompt_tokens": ["usage"],
        "gen_ai.usage.completion_tokens": ["usage"],
        "traceloop.entity.input": ["input"],
        "traceloop.entity.output": ["reply"],
        "traceloop.": textsOfTurn,
      },
    },
  ],
  scope: /^(?:@?traceloop|opentelemetry\.instrumentation\.(?!genai|openai_v2$|google_genai$))/,
  contentSwitches: [
    openTelemetryContent,
    {
      of: "OpenTelemetry’s instrumentation of the OpenAI Agents SDK",
      scope: /^opentelemetry\.instrumentation\.openai_agents$/,
      // OpenLLMetry's has the same scope, and does not write it.
      mark: "server.address",
      says: "It writes messages unless this variable is set to no_content or event_only.",
      lines: ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=span_only"],
    },
    {
      says: "It writes messages unless this variable is false.",
      lines: ["TRACELOOP_TRACE_CONTENT=true"],
    },
  ],
  role: span => {
    const kind = attributeOf(span, "traceloop.span.kind");
    // LangChain for JavaScript calls its tools tasks.
    if (kind === "tool" || standardRole(span) === "tool") return "tool";
    // Of the same, any runnable is a workflow.
    if (attributeOf(span, "gen_ai.operation.name") === "workflow") return "step";
    if (kind === "agent" || kind === "workflow") return "agent";
    if (kind === "task") return "step";
    return attributeOf(span, "llm.request.type") === undefined ? standardRole(span) : "model";
  },
  input: ["gen_ai.prompt.", "traceloop.entity.input", "crewai.task.description"],
  output: ["gen_ai.completion.", "traceloop.entity.output", "crewai.crew.result"],
  toolName: ["gen_ai.tool.name", "traceloop.entity.name"],
  toolArguments: ["traceloop.entity.input"],
  toolResult: ["traceloop.entity.output"],
  conversationId: [
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.thread_id",
    "gen_ai.conversation.id",
  ],
  userId: ["traceloop.association.properties.user_id"],
});
