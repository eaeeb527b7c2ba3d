// Pydantic AI 0.8 to 2.68: the standard attributes since 1.0, `events` and `all_messages_events` before.

import { attributeOf } from "../span/conversation.ts";
import { listedMessages } from "../span/listed-events.ts";
import { textsOfTurn } from "../span/signs.ts";
import { preset, standardRole } from "../span/table.ts";

export const pydanticAi = preset({
  name: "pydantic_ai",
  title: "Pydantic AI",
  writes: "Pydantic AI’s own instrumentation, also versions before 1.0.",
  marks: [],
  signs: [
    { attributes: { "pydantic_ai.all_messages": ["input"] } },
    {
      of: "Pydantic AI before 1.0",
      way: "Current releases of Pydantic AI send them.",
      attributes: { all_messages_events: textsOfTurn },
    },
  ],
  scope: /^pydantic-ai$/,
  contentSwitches: [
    {
      says: "It writes messages unless include_content is off in the settings of its instrumentation.",
      lines: ["Agent.instrument_all(InstrumentationSettings(include_content=True))"],
    },
  ],
  role: span => {
    if (standardRole(span)) return standardRole(span);
    if (attributeOf(span, "gen_ai.tool.name") !== undefined) return "tool";
    return attributeOf(span, "agent_name") === undefined ? "step" : "agent";
  },
  input: ["events", "pydantic_ai.all_messages", "all_messages_events"],
  output: ["final_result", "events"],
  toolArguments: ["tool_arguments"],
  toolResult: ["tool_response"],
  model: ["gen_ai.response.model", "gen_ai.request.model", "model_name"],
  // Set or not, the id is there; one that nobody set is of no use and differs in every trace.
  mend: {
    asked: (asked, span, role) =>
      role === "model" ? (listedMessages(span, "events", "user") ?? asked) : asked,
    answered: (answered, span, role) =>
      role === "model" ? (listedMessages(span, "events", "assistant") ?? answered) : answered,
    conversationId: id => (isUuid7(id?.value) ? null : id),
  },
});

const isUuid7 = (id: string | undefined) =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(id ?? "");
