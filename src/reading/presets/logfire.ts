// Logfire's own instrumentations (OpenAI, Anthropic, OpenAI Agents), 4 and 5: request and response as JSON, or `events`.
import { textOrNone } from "../../model/record.ts";
import { attributeOf } from "../span/conversation.ts";
import { listedMessages } from "../span/listed-events.ts";
import { preset, standardRole } from "../span/table.ts";

export const logfire = preset({
  name: "logfire",
  title: "Logfire",
  writes: "Logfire’s instrumentations of OpenAI, Anthropic and the OpenAI Agents SDK.",
  marks: ["logfire.msg_template"],
  scope: /^logfire/,
  signs: [{ attributes: { request_data: ["input"], response_data: ["reply"], raw_input: ["input"] } }],
  role: span => {
    const template = textOrNone(attributeOf(span, "logfire.msg_template"));
    if (template.startsWith("Function:")) return "tool";
    if (template.startsWith("Agent run:") || template.startsWith("OpenAI Agents trace:")) return "agent";
    const isCall = ["gen_ai.request.model", "request_data"].some(key => attributeOf(span, key) !== undefined);
    return standardRole(span) ?? (isCall ? "model" : "step");
  },
  input: ["raw_input", "request_data", "input"],
  output: ["response", "response_data", "output"],
  toolName: ["name"],
  toolArguments: ["input"],
  toolResult: ["output"],
  usageJson: ["usage"],
  conversationId: ["group_id"],
  mend: {
    asked: (asked, span) => asked ?? listedMessages(span, "events", "user"),
    answered: (answered, span) => answered ?? listedMessages(span, "events", "assistant"),
  },
});
