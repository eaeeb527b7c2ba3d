// OpenTelemetry's own conventions for generative AI, and whatever keeps to them: Semantic Kernel, AutoGen, the instrumentations of the contrib repository.
import { attributeOf } from "../../conversation/conversation.ts";
import { preset, standardRole } from "../table.ts";

export const openTelemetry = preset({
  name: "opentelemetry",
  title: "OpenTelemetry GenAI",
  writes:
    "OpenTelemetry’s own GenAI instrumentations, Semantic Kernel and AutoGen: calls are counted once and read from messages too.",
  marks: ["gen_ai.operation.name", "gen_ai.request.model"],
  role: span => {
    const isCall = attributeOf(span, "gen_ai.request.model") !== undefined || span.log_records !== undefined;
    return standardRole(span) ?? (isCall ? "model" : null);
  },
});
