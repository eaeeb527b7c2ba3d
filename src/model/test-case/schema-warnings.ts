// Warns of what a JSON Schema ignores: keywords that it does not know, such as misspelled ones, and unknown formats.

import { step } from "../path.ts";
import type { Issue } from "../refusal.ts";
import { draftOf, newerThanDraft7 } from "./json-schema.ts";
import { readReferences } from "./schema-references.ts";

const warningsMax = 20;

/** Of a valid schema; paths start at it, such as `.properties.id`. */
export function schemaWarnings(schema: unknown): Issue[] {
  const draft = draftOf(schema);
  const known = draft === "7" ? keywords.difference(new Set(newerThanDraft7)) : keywords;
  const warnings = readReferences(schema).subschemas.flatMap(({ schema, path }) =>
    Object.entries(schema).flatMap(([key, value]): Issue[] => {
      const at = path + step(key);
      if (key === "format" && typeof value === "string" && !formats.has(value)) {
        const message = `“${value}” is not a format that is checked, so any value has it.`;
        return [{ path: at, message: message + suggestion(value, formats) }];
      }
      if (known.has(key) || annotations.test(key)) return [];
      const why = keywords.has(key) ? "Draft 7 does not know this keyword" : "Unknown keyword";
      return [{ path: at, message: `${why}: it has no effect.${suggestion(key, known)}` }];
    }),
  );
  return warnings.slice(0, warningsMax);
}

const keywords: ReadonlySet<string> = new Set(
  (
    "$schema $id id $ref $anchor $dynamicAnchor $recursiveAnchor $vocabulary $comment $defs definitions " +
    "title description default examples deprecated readOnly writeOnly " +
    "type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern " +
    "maxItems minItems uniqueItems maxContains minContains maxProperties minProperties required dependentRequired " +
    "allOf anyOf oneOf not if then else dependentSchemas dependencies items prefixItems additionalItems contains " +
    "properties patternProperties additionalProperties propertyNames unevaluatedItems unevaluatedProperties " +
    "format contentEncoding contentMediaType contentSchema"
  ).split(" "),
);

/** For people and tools: meant to have no effect. */
const annotations = /^(?:x-|~|example$|externalDocs$|discriminator$|xml$|propertyOrdering$)/;

/** Those that the validator knows. */
export const formats: ReadonlySet<string> = new Set(
  (
    "date time date-time duration email hostname ipv4 ipv6 uri uri-reference uri-template uuid regex json-pointer " +
    "json-pointer-uri-fragment relative-json-pointer"
  ).split(" "),
);

function suggestion(written: string, known: ReadonlySet<string>): string {
  if (written === "nullable") return ' Allow null by its type, such as ["string", "null"].';
  const name = plain(written);
  if (name.length < 3 || name.length > 40) return "";
  const most = name.length > 4 ? 2 : 1;
  const edits = (one: string) => editsBetween(name, plain(one));
  const near = [...known].filter(one => edits(one) <= most || plain(one).startsWith(name));
  const [nearest] = near.sort((a, b) => edits(a) - edits(b));
  return nearest === undefined ? "" : ` Did you mean “${nearest}”?`;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_\s]/g, "");
}

/** How many letters have to be changed, added or left out to make one of the other. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...a].entries()) {
    const next = [at + 1];
    for (let to = 1; to <= b.length; to++) {
      next.push(Math.min(row[to]! + 1, next[to - 1]! + 1, row[to - 1]! + Number(letter !== b[to - 1])));
    }
    row = next;
  }
  return row[b.length]!;
}
