// AG2's own tracing, 0.10 to 1.2: the standard attributes, and the usage of each call once more on a span beside it.
import { attributeOf } from "../span/conversation.ts";
import { preset, standardRole } from "../span/table.ts";

const roles = { agent: "agent", llm: "model", tool: "tool", usage: "other" } as const;

export const ag2 = preset({
  name: "ag2",
  title: "AG2",
  writes: "AG2’s own tracing.",
  marks: ["ag2."],
  scope: /^opentelemetry\.instrumentation\.ag2$/,
  kinds: { attribute: "ag2.span.type", roles },
  role: standardRole,
  mend: { usage: (usage, span) => (attributeOf(span, "ag2.span.type") === "usage" ? null : usage) },
});
