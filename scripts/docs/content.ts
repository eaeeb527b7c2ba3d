// The table of the attributes that are kept where content is not stored, from the code.
import { type KeptShape, keptAttributes } from "../../src/reading/content/kept.ts";
import { table } from "./table.ts";

const values: Record<KeptShape, string> = {
  text: "texts of up to 1,000 characters",
  id: "texts of up to 1,000 characters, or integers",
  count: "whole numbers, or their digits",
};

export function keptTable(): string {
  const groups = Map.groupBy(keptAttributes, ({ readFor }) => readFor);
  const rows = [...groups].map(([readFor, attributes]) => [
    readFor,
    attributes.map(({ attribute }) => `\`${attribute}\``).join(", "),
    values[attributes[0]!.shape],
  ]);
  return table(["Read for", "Attributes", "Values"], rows);
}
