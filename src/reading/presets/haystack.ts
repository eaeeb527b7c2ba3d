// Haystack's own tracing, 2.x and 3: input and output of agents, components and tools, if content tracing is on.
import { textOrNone } from "../../model/record.ts";
import { attributeOf } from "../span/conversation.ts";
import { preset } from "../span/table.ts";

export const haystack = preset({
  name: "haystack",
  title: "Haystack",
  writes: "Haystack’s own tracing, with content tracing on.",
  marks: ["haystack."],
  scope: /^haystack/,
  signs: [
    {
      attributes: {
        "haystack.agent.input": ["input"],
        "haystack.agent.output": ["reply", "usage"],
        "haystack.component.input": ["input"],
        "haystack.component.output": ["reply", "usage"],
        "haystack.tool.name": ["toolName"],
      },
    },
  ],
  contentSwitches: [
    {
      says: "It writes inputs and outputs only if this variable is set.",
      lines: ["HAYSTACK_CONTENT_TRACING_ENABLED=true"],
    },
  ],
  role: span => {
    const { name } = span;
    if (attributeOf(span, "haystack.tool.name") !== undefined) return "tool";
    if (name.endsWith(".step.llm")) return "model";
    if (name === "haystack.agent.run") return "agent";
    if (name !== "haystack.component.run") return "step";
    return /Generator$/.test(textOrNone(attributeOf(span, "haystack.component.type"))) ? "model" : "step";
  },
  input: [
    "haystack.agent.step.llm.input",
    "haystack.agent.input",
    "haystack.component.input",
    "haystack.pipeline.input_data",
  ],
  output: [
    "haystack.agent.step.llm.output",
    "haystack.agent.output",
    "haystack.component.output",
    "haystack.pipeline.output_data",
  ],
  toolName: ["haystack.tool.name"],
  toolArguments: ["haystack.agent.step.tool.input", "haystack.tool.input"],
  toolResult: ["haystack.agent.step.tool.output", "haystack.tool.output"],
  answerHasUsage: true,
});
