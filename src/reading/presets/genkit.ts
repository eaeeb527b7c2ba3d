// Firebase Genkit for JavaScript and Go, 1.x: `genkit:*`; usage and model are in the JSON of the output.

import { attributeOf } from "../span/conversation.ts";
import { preset } from "../span/table.ts";

export const genkit = preset({
  name: "genkit",
  title: "Genkit",
  writes: "Firebase Genkit for JavaScript and Go.",
  marks: ["genkit:type", "genkit:name"],
  signs: [{ attributes: { "genkit:input": ["input"], "genkit:output": ["reply", "usage"] } }],
  role: span => {
    const subtype = attributeOf(span, "genkit:metadata:subtype");
    if (subtype === "model" || subtype === "tool") return subtype;
    return subtype === "flow" || subtype === "agent" ? "agent" : "step";
  },
  input: ["genkit:input"],
  output: ["genkit:output"],
  toolName: ["genkit:name"],
  toolArguments: ["genkit:input"],
  toolResult: ["genkit:output"],
  answerHasUsage: true,
});
