// Firebase Genkit for JavaScript and Go, 1.x: `genkit:*`; usage and model are in the JSON of the output.

import { isRecord } from "../../model/record.ts";
import type { Attributes, Span } from "../../model/trace/trace.ts";
import { attributeOf } from "../span/conversation.ts";
import type { Sourced } from "../span/reading.ts";
import { preset } from "../span/table.ts";
import { sourced, usageIn } from "../span/values.ts";

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
  mend: {
    usage: (usage, span, role) => {
      if (role !== "model") return usage;
      const output = outputOf(span);
      return output && usageIn({ ...output, value: output.value["usage"] });
    },
    model: (model, span, role) => {
      const output = role === "model" ? outputOf(span) : null;
      const raw = output?.value["raw"];
      const name = isRecord(raw) ? raw["model"] : null;
      return output && typeof name === "string" ? { ...output, value: name } : model;
    },
  },
});

function outputOf(span: Span): Sourced<Attributes> | null {
  const output = sourced(span, "genkit:output");
  return output && isRecord(output.value) ? { ...output, value: output.value } : null;
}
