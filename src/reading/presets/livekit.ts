// LiveKit Agents 1.x: a session is one trace, with a span for each turn; `lk.pii.*` since 1.6.
import { preset, standardRole } from "../span/table.ts";

export const liveKit = preset({
  name: "livekit",
  title: "LiveKit Agents",
  writes:
    "LiveKit Agents. A session is one trace: its last question and reply are read, and its turns are in the conversation.",
  marks: ["lk."],
  scope: /^livekit-agents/,
  signs: [
    {
      attributes: {
        "lk.pii.user_input": ["input"],
        "lk.user_input": ["input"],
        "lk.pii.response.text": ["reply"],
        "lk.response.text": ["reply"],
      },
    },
  ],
  role: span => standardRole(span) ?? (span.name === "llm_node" ? "model" : "other"),
  turns: /^agent_turn$/,
  input: ["lk.pii.user_input", "lk.user_input", "lk.pii.chat_ctx", "lk.chat_ctx"],
  output: ["lk.pii.response.text", "lk.response.text"],
  calls: ["lk.pii.response.function_calls", "lk.response.function_calls"],
  toolName: ["lk.function_tool.name"],
  toolId: ["lk.function_tool.id"],
  toolArguments: ["lk.pii.function_tool.arguments", "lk.function_tool.arguments"],
  toolResult: ["lk.pii.function_tool.output", "lk.function_tool.output"],
});
