// Validates the JSON Schemas of test cases: two drafts, limited size and depth, no references to other documents.
import { createRequire } from "node:module";
import type { Ajv, ErrorObject } from "ajv";
import { isWithin, step } from "../path.ts";
import { isRecord } from "../record.ts";
import type { Issue } from "../refusal.ts";
import { patternFault } from "./pattern.ts";
import { withNumbers } from "./schema-integers.ts";
import { readReferences, type Subschema } from "./schema-references.ts";

const schemaBytesMax = 64 * 1024;
const schemaDepthMax = 64;

export type SchemaDraft = "2020-12" | "7";

/** What draft 7 does not know, and so ignores. */
export const newerThanDraft7 = [
  "dependentRequired",
  "dependentSchemas",
  "maxContains",
  "minContains",
  "prefixItems",
  "unevaluatedItems",
  "unevaluatedProperties",
];

/** The draft named by `$schema`, 2020-12 by default; null if unsupported. */
export function draftOf(schema: unknown): SchemaDraft | null {
  const named = isRecord(schema) ? schema["$schema"] : undefined;
  if (named === undefined) return "2020-12";
  if (typeof named !== "string") return null;
  const url = named.replace(/^https?:\/\//, "").replace(/#$/, "");
  return url === "json-schema.org/draft/2020-12/schema"
    ? "2020-12"
    : url === "json-schema.org/draft-07/schema"
      ? "7"
      : null;
}

/** Why the schema cannot be used. Paths start at the schema, such as `.properties.id`. Never throws. */
export function schemaIssues(stored: unknown): Issue[] {
  const schema = isWithin(stored, schemaDepthMax) ? withNumbers(stored) : stored;
  if (typeof schema !== "boolean" && !isRecord(schema)) {
    return [{ path: "", message: "A schema must be an object, true or false." }];
  }
  if (!isWithin(schema, schemaDepthMax)) {
    return [{ path: "", message: `A schema can be at most ${schemaDepthMax} levels deep.` }];
  }
  if (Buffer.byteLength(JSON.stringify(schema)) > schemaBytesMax) {
    return [{ path: "", message: `A schema can have at most ${schemaBytesMax / 1024} KB as JSON.` }];
  }
  const draft = draftOf(schema);
  if (!draft) return [{ path: ".$schema", message: "Only draft 2020-12 and draft 7 are supported." }];

  const { subschemas, referenced, issues } = readReferences(schema);
  return [
    ...metaSchemaIssues(schema, draft),
    ...referenced.flatMap(one =>
      metaSchemaIssues(one.schema, draft).map(({ path, message }) => ({ path: one.path + path, message })),
    ),
    ...subschemas.flatMap(keywordIssues),
    ...issues,
  ];
}

// Loaded with the first schema that is saved: ajv with its meta-schemas takes 0.1 to 0.3 s of a core, and most threads
// that import this file never check a schema.
const require = createRequire(import.meta.url);
const metaSchemas = {
  "2020-12": "https://json-schema.org/draft/2020-12/schema",
  "7": "http://json-schema.org/draft-07/schema",
};
const checkers = new Map<SchemaDraft, Ajv>();

function checkerOf(draft: SchemaDraft): Ajv {
  const known = checkers.get(draft);
  if (known) return known;
  const library = draft === "7" ? require("ajv") : require("ajv/dist/2020.js");
  const checker: Ajv = new library.default({
    allErrors: true,
    strict: false,
    validateFormats: false,
    logger: false,
  });
  checkers.set(draft, checker);
  return checker;
}

/** The issues found by the draft's meta-schema: the innermost ones, one per path. */
function metaSchemaIssues(schema: unknown, draft: SchemaDraft): Issue[] {
  const checker = checkerOf(draft);
  // Selected by id: `$schema` may be spelled in more ways than ajv knows.
  if (checker.validate(metaSchemas[draft], schema) === true) return [];
  const errors = (checker.errors ?? []).filter(({ keyword }) => keyword !== "anyOf");
  const innermost = errors.filter(
    ({ instancePath }) => !errors.some(other => other.instancePath.startsWith(`${instancePath}/`)),
  );
  const byPath = new Map(innermost.toReversed().map(error => [error.instancePath, error]));
  return [...byPath.values()].toReversed().map(error => ({
    path: pathOf(error.instancePath, schema),
    message: messageOf(error),
  }));
}

function messageOf({ keyword, message = "is invalid", params }: ErrorObject): string {
  if (keyword === "enum") return `Must be one of ${params["allowedValues"].join(", ")}.`;
  return `${message[0]!.toUpperCase()}${message.slice(1).replace(",", " or ")}.`;
}

/** A JSON pointer as a path from the schema, such as `.anyOf[1]`. */
function pathOf(pointer: string, schema: unknown): string {
  let value = schema;
  const steps = pointer
    .split("/")
    .slice(1)
    .map(part => {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      const at = Array.isArray(value) ? Number(key) : key;
      value = (value as Record<PropertyKey, unknown>)[at];
      return step(at);
    });
  return steps.join("");
}

/** Checks ids, patterns and unsupported keywords, which meta-schemas cannot. */
function keywordIssues({ schema, path }: Subschema): Issue[] {
  return Object.entries(schema).flatMap(([key, value]) => {
    const issue = (message: string | null, at = path + step(key)) => (message ? [{ path: at, message }] : []);
    switch (key) {
      case "$id":
      case "id":
        return issue(idFault(value, path));
      case "$dynamicRef":
      case "$recursiveRef":
        return issue(`${key} is not supported; use $ref.`);
      case "pattern":
        return issue(typeof value === "string" ? patternFault(value) : null);
      case "patternProperties":
        return isRecord(value)
          ? Object.keys(value).flatMap(name => issue(patternFault(name), path + step(key) + step(name)))
          : [];
      default:
        return [];
    }
  });
}

/** An id below the top would change what every reference means. */
function idFault(id: unknown, path: string): string | null {
  if (path !== "") return "Only the top of a schema can have an id. Use $anchor, or refer to #/$defs/name.";
  return typeof id === "string" && URL.canParse(id, "https://schema.invalid/") ? null : "Must be a URL.";
}
