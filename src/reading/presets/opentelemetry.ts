// OpenTelemetry's own conventions for generative AI, and whatever keeps to them: Semantic Kernel, AutoGen, the instrumentations of the contrib repository.

import { attributeOf } from "../span/conversation.ts";
import type { ContentSwitch } from "../span/reading.ts";
import { preset, standardRole } from "../span/table.ts";
import { latestContent } from "../span/variables.ts";

/** Of the contrib repository; its instrumentation of Vertex AI has the scope of OpenLLMetry's, which writes messages by default. */
export const openTelemetryContent: ContentSwitch = {
  of: "OpenTelemetry’s instrumentations",
  scope: /^opentelemetry\.(?:instrumentation\.(?:genai\.|openai_v2$|google_genai$|vertexai$)|util\.genai)/,
  says: "They write messages only if both variables are set. Releases that do not know SPAN_ONLY take true, and write messages as log records.",
  lines: latestContent("SPAN_ONLY"),
  logRecords: true,
};

export const openTelemetry = preset({
  name: "opentelemetry",
  title: "OpenTelemetry GenAI",
  writes:
    "OpenTelemetry’s own GenAI instrumentations, Semantic Kernel and AutoGen: calls are counted once and read from messages too.",
  marks: ["gen_ai.operation.name", "gen_ai.request.model"],
  contentSwitches: [
    openTelemetryContent,
    {
      of: "OpenTelemetry’s instrumentations for JavaScript",
      scope: /^@opentelemetry\/instrumentation-/,
      says: "They write messages only if this variable is set, and as log records.",
      lines: ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"],
      logRecords: true,
    },
    {
      of: "Semantic Kernel",
      scope: /^(?:semantic_kernel\.|Microsoft\.SemanticKernel)/,
      says: "It writes messages only if this variable is set; in Python as log records.",
      lines: ["SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true"],
      logRecords: true,
    },
    {
      of: "Microsoft.Extensions.AI and Agent Framework for .NET",
      scope: /^(?:Experimental\.)?Microsoft\.(?:Extensions|Agents)\.AI/,
      says: "They write messages only if EnableSensitiveData is set where telemetry is added.",
      lines: [".UseOpenTelemetry(configure: options => options.EnableSensitiveData = true)"],
    },
    {
      of: "Vercel AI SDK 7",
      scope: /^gen_ai$/,
      says: "It writes messages unless recordInputs and recordOutputs are off in the call’s telemetry settings.",
      lines: ["telemetry: { recordInputs: true, recordOutputs: true }"],
    },
    {
      of: "AutoGen",
      scope: /^autogen-core$/,
      says: "Its own spans have no messages, and no setting adds them. Instrument the library that calls the model as well, for OpenAI’s with openinference-instrumentation-openai.",
    },
  ],
  // Quarkus and other writers put the whole answer there; `gen_ai.prompt` beside it is read as documented.
  output: ["gen_ai.output.messages", "gen_ai.output", "gen_ai.completion"],
  toolArguments: ["gen_ai.tool.args"],
  toolResult: ["gen_ai.output"],
  role: span => {
    const isCall = attributeOf(span, "gen_ai.request.model") !== undefined || span.log_records !== undefined;
    return standardRole(span) ?? (isCall ? "model" : null);
  },
});
