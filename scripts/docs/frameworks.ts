// Generates the table of other tracing conventions that Onlooker recognizes.
import { conventions } from "../../src/reading/derived/other-convention.ts";
import { code, table } from "./table.ts";

export function conventionTable(): string {
  const rows = Object.entries(conventions).map(([name, { way, attributes: signs, scope }]) => {
    const keys = Object.keys(signs).map(key => code(key.endsWith(".") ? `${key}*` : key));
    return [name, keys.join(", ") + (scope ? `, with the scope ${code(scope)}` : ""), way];
  });
  return table(["Convention", "Recognized by", "How to send what checks read"], rows);
}
