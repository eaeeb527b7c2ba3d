// n8n 2.x: which nodes ran, and nothing of what they were given or gave.
import { textOrNone } from "../../model/record.ts";
import { attributeOf } from "../span/conversation.ts";
import { textsOfTurn } from "../span/signs.ts";
import { preset, standardRole } from "../span/table.ts";

export const n8n = preset({
  name: "n8n",
  title: "n8n",
  writes: "n8n. Names of nodes are exported, also those of tools; messages, arguments and tokens are not.",
  marks: ["n8n."],
  scope: /^n8n/,
  signs: [
    {
      way: "n8n’s spans of nodes carry none of them: send them from the workflow, or trace the library that calls the model.",
      attributes: { "n8n.": textsOfTurn },
    },
  ],
  contentSwitches: [
    {
      says: "Its spans of nodes have no messages, whatever its settings. Send them from the workflow with an HTTP request to /public/traces, or trace the library that calls the model.",
    },
  ],
  role: span => {
    const type = textOrNone(attributeOf(span, "n8n.node.type"));
    if (/\.(?:tool[A-Z]|mcpClientTool)|Tool$/.test(type)) return "tool";
    if (/\.lm[A-Z]/.test(type)) return "model";
    return (
      standardRole(span) ??
      (/\.agent$/.test(type) ? "agent" : type === "" && span.name !== "workflow.execute" ? "other" : "step")
    );
  },
  toolName: ["gen_ai.tool.name", "n8n.node.name"],
});
