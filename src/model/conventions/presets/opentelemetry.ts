// OpenTelemetry's own conventions for generative AI, and whatever keeps to them: Semantic Kernel, AutoGen, the instrumentations of the contrib repository.
import { attributeOf } from "../../conversation/conversation.ts";
import { preset, standardRole } from "../table.ts";

export const openTelemetry = preset({
  name: "opentelemetry",
  title: "OpenTelemetry GenAI",
  marks: ["gen_ai.operation.name", "gen_ai.request.model"],
  role: span =>
    standardRole(span) ?? (attributeOf(span, "gen_ai.request.model") === undefined ? null : "model"),
});
