// Google's Agent Development Kit: `gcp.vertex.agent.*` up to 1.x, the standard attributes in 2.x.

import { attributeOf } from "../span/conversation.ts";
import { textsOfTurn } from "../span/signs.ts";
import { preset, standardRole } from "../span/table.ts";
import { latestContent } from "../span/variables.ts";

export const googleAdk = preset({
  name: "google_adk",
  title: "Google ADK",
  writes: "Google’s Agent Development Kit 1 and 2. Version 2 writes messages only if told to.",
  marks: ["gcp.vertex.agent."],
  signs: [
    {
      way: "Set them on the model's and the tools' spans beside ADK's own.",
      attributes: {
        "gcp.vertex.agent.llm_request": ["input"],
        "gcp.vertex.agent.llm_response": ["reply"],
        "gcp.vertex.agent.tool_call_args": ["toolArguments"],
        "gcp.vertex.agent.": textsOfTurn,
      },
    },
  ],
  scope: /^gcp\.vertex\.agent$/,
  contentSwitches: [
    {
      says: "Version 2 writes messages only if both variables are set. Version 1 writes them unless ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS is false.",
      lines: latestContent("SPAN_AND_EVENT"),
    },
  ],
  role: span =>
    standardRole(span) ?? (attributeOf(span, "gcp.vertex.agent.llm_request") === undefined ? null : "model"),
  input: ["gcp.vertex.agent.llm_request"],
  output: ["gcp.vertex.agent.llm_response"],
  toolId: ["gen_ai.tool.call.id", "gen_ai.tool_call.id"],
  toolArguments: ["gcp.vertex.agent.tool_call_args"],
  toolResult: ["gcp.vertex.agent.tool_response"],
  conversationId: ["gcp.vertex.agent.session_id", "gen_ai.conversation.id"],
  mend: { provider: provider => (provider?.value === "gcp.vertex.agent" ? null : provider) },
});
