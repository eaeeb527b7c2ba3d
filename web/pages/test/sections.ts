// The sections of the editor's form: the fields of each, and which are open at first.
import { assertionsOf, type Doc, type Editing } from "./document.ts";
import { keysOf } from "./json-text.ts";

export type SectionName = "name" | "when" | "scenario" | "turns" | "checks";

/** A section, or a check by its key. */
export type FoldId = SectionName | `check ${number}`;

/** What has to be filled in, and the checks. */
export function firstOpen(document: Doc): SectionName[] {
  const isBlank = (name: string) => !/\S/.test(String(document[name] ?? ""));
  const isConditional = (document["passiveBehavior"] ?? "run_when_relevant") === "run_when_relevant";
  return [
    ...(isBlank("name") ? (["name"] as const) : []),
    ...(isConditional && isBlank("scenario") ? (["scenario"] as const) : []),
    "checks",
  ];
}

const sections: Record<string, SectionName> = {
  name: "name",
  passiveBehavior: "when",
  scenario: "scenario",
  turns: "turns",
  inputs: "turns",
  repeats: "turns",
  assertions: "checks",
  threshold: "checks",
};

/** The section of the field at a path, and the check that it belongs to; none if only the JSON has it. */
export function foldsOf(path: string, { document, keys }: Pick<Editing, "document" | "keys">): FoldId[] {
  const [field, at] = keysOf(path);
  const section = Object.hasOwn(sections, field ?? "") ? sections[field!] : undefined;
  if (!section) return [];
  const isOfCheck = field === "assertions" && typeof at === "number" && at < assertionsOf(document).length;
  return isOfCheck ? [section, `check ${keys[at]!}`] : [section];
}
