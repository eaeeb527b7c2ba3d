// The table of the attributes that are kept where content is not stored, from the code.
import { keptAttributes } from "../../src/model/content/kept.ts";
import { table } from "./table.ts";

export function keptTable(): string {
  const groups = Map.groupBy(keptAttributes, ({ readFor }) => readFor);
  const rows = [...groups].map(([readFor, attributes]) => [
    readFor,
    attributes.map(({ attribute }) => `\`${attribute}\``).join(", "),
    attributes[0]!.shape === "count" ? "whole numbers, or their digits" : "texts of up to 1,000 characters",
  ]);
  return table(["Read for", "Attributes", "Values"], rows);
}
