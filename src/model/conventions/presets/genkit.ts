// Firebase Genkit for JavaScript and Go, 1.x: `genkit:*`; usage and model are in the JSON of the output.
import { attributeOf } from "../../conversation/conversation.ts";
import { isRecord } from "../../record.ts";
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
  mend: (reading, span) => {
    if (reading.role !== "model") return reading;
    const output = sourced(span, "genkit:output");
    const usage =
      output && isRecord(output.value) ? usageIn({ ...output, value: output.value["usage"] }) : null;
    const raw =
      output && isRecord(output.value) && isRecord(output.value["raw"]) ? output.value["raw"]["model"] : null;
    return {
      ...reading,
      usage,
      model: output && typeof raw === "string" ? { ...output, value: raw } : reading.model,
    };
  },
});
