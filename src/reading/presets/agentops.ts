// AgentOps 0.4: `agentops.*` beside flattened prompts and completions.
import { preset, standardRole } from "../span/table.ts";

export const agentOps = preset({
  name: "agentops",
  title: "AgentOps",
  writes: "AgentOps and the instrumentations it includes.",
  marks: ["agentops."],
  scope: /^agentops/,
  signs: [
    {
      attributes: {
        "agentops.entity.input": ["input"],
        "agentops.entity.output": ["reply"],
        "agentops.": ["input", "reply"],
      },
    },
  ],
  kinds: {
    attribute: "agentops.span.kind",
    roles: {
      llm: "model",
      agent: "agent",
      tool: "tool",
      session: "step",
      workflow: "step",
      operation: "step",
      task: "step",
      guardrail: "other",
      text: "other",
    },
  },
  role: standardRole,
  input: ["gen_ai.prompt.", "agentops.entity.input", "agent.input"],
  output: ["gen_ai.completion.", "agentops.entity.output", "agent.output"],
  toolName: ["tool.name", "gen_ai.tool.name", "agentops.entity.name", "operation.name"],
  toolId: ["gen_ai.tool.call.id", "tool.call_id"],
  toolArguments: ["tool.parameters", "agentops.entity.input"],
  toolResult: ["tool.result", "agentops.entity.output"],
});
