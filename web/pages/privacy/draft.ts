// The privacy settings as the form has them.
import type { Privacy } from "../../../src/http/privacy-schemas.ts";

/** The texts in the fields of an own rule; `row` is the React key. */
export type DraftPattern = { row: number; name: string; pattern: string; flags: string };

/** `pseudonyms`: an attribute a line. */
export type DraftPrivacy = Omit<Privacy, "rules" | "pseudonyms"> & {
  rules: DraftPattern[];
  pseudonyms: string;
};

let lastRow = 0;

export function newPattern({ name = "", pattern = "", flags = "" } = {}): DraftPattern {
  lastRow += 1;
  return { row: lastRow, name, pattern, flags };
}

export function toDraft({ rules, pseudonyms, ...rest }: Privacy): DraftPrivacy {
  return { ...rest, rules: rules.map(newPattern), pseudonyms: pseudonyms.join("\n") };
}

export function fromDraft({ rules, pseudonyms, ...rest }: DraftPrivacy): Privacy {
  return {
    ...rest,
    rules: rules.map(({ name, pattern, flags }) => ({ name, pattern, ...(flags === "" ? {} : { flags }) })),
    pseudonyms: pseudonyms.split("\n").flatMap(line => line.trim() || []),
  };
}
