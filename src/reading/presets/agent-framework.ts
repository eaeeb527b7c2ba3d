// Microsoft Agent Framework 1.x: the standard attributes, on the agent and again on its calls.
import { preset } from "../span/table.ts";

export const agentFramework = preset({
  name: "agent_framework",
  title: "Microsoft Agent Framework",
  writes: "Microsoft Agent Framework.",
  marks: [],
  scope: /^agent_framework/,
  contentSwitches: [
    {
      says: "It writes messages only if this variable is set, or with enable_sensitive_data=True in configure_otel_providers.",
      lines: ["ENABLE_SENSITIVE_DATA=true"],
    },
  ],
  // A later call of the Responses API carries the id of the response before it there.
  mend: { conversationId: id => (id?.value.startsWith("resp_") ? null : id) },
});
