// Firebase Genkit for JavaScript and Go, 1.x: `genkit:*`; usage and model are in the JSON of the output.
import { attributeOf } from "../../conversation/conversation.ts";
import { isRecord } from "../../record.ts";
import type { Attributes, Span } from "../../trace/trace.ts";
import type { Sourced } from "../reading.ts";
import { preset } from "../table.ts";
import { sourced, usageIn } from "../values.ts";

export const genkit = preset({
  name: "genkit",
  title: "Genkit",
  writes: "Firebase Genkit for JavaScript and Go.",
  marks: ["genkit:type", "genkit:name"],
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
