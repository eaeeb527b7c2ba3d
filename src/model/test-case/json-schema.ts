// Validates the JSON Schemas of test cases: two drafts, limited size and depth, no references to other documents.
import { createRequire } from "node:module";
import type { Ajv, ErrorObject } from "ajv";
import { isWithin, step } from "../path.ts";
import { isRecord } from "../record.ts";
import type { Issue } from "../refusal.ts";

const schemaBytesMax = 64 * 1024;
const schemaDepthMax = 64;

export type SchemaDraft = "2020-12" | "7";

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
export function schemaIssues(schema: unknown): Issue[] {
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

  const reader: Reader = {
    issues: metaSchemaIssues(schema, draft),
    references: [],
    anchors: new Set(),
    root: schema,
  };
  readSchema(schema, "", reader);
  for (const { reference, path } of reader.references) {
    const fault = referenceFault(reference, reader);
    if (fault) reader.issues.push({ path, message: fault });
  }
  return reader.issues;
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
function metaSchemaIssues(schema: object | boolean, draft: SchemaDraft): Issue[] {
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

type Reader = {
  issues: Issue[];
  references: { reference: string; path: string }[];
  anchors: Set<string>;
  root: unknown;
};

/** Keywords whose value is a schema, a list of schemas or an object of schemas. Other keys may have any value. */
const schemaKeywords = new Set([
  "additionalItems",
  "additionalProperties",
  "allOf",
  "anyOf",
  "contains",
  "else",
  "if",
  "items",
  "not",
  "oneOf",
  "prefixItems",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
const mapKeywords = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/** Checks ids, references and patterns, which meta-schemas cannot. */
function readSchema(schema: unknown, path: string, reader: Reader): void {
  if (!isRecord(schema)) return;
  const refuse = (at: string, message: string) => void reader.issues.push({ path: at, message });
  for (const [key, value] of Object.entries(schema)) {
    const at = path + step(key);
    // An id below the top would change what every reference means.
    if (key === "$id" || key === "id") {
      if (path !== "") refuse(at, "Only the top of a schema can have an id.");
      else if (typeof value !== "string" || !URL.canParse(value, "https://schema.invalid/"))
        refuse(at, "Must be a URL.");
    } else if (key === "$dynamicRef" || key === "$recursiveRef")
      refuse(at, `${key} is not supported; use $ref.`);
    else if (key === "$ref" && typeof value === "string")
      reader.references.push({ reference: value, path: at });
    else if (key === "$anchor" && typeof value === "string") reader.anchors.add(value);
    else if (key === "pattern" && typeof value === "string") checkPattern(value, at);
    else if (schemaKeywords.has(key)) {
      if (Array.isArray(value))
        value.forEach((item, index) => void readSchema(item, at + step(index), reader));
      else readSchema(value, at, reader);
    } else if (mapKeywords.has(key) && isRecord(value)) {
      for (const [name, item] of Object.entries(value)) {
        if (key === "patternProperties") checkPattern(name, at + step(name));
        readSchema(item, at + step(name), reader);
      }
    }
  }
  function checkPattern(pattern: string, at: string): void {
    if (!compiles(pattern)) refuse(at, "Must be a valid regular expression.");
  }
}

function referenceFault(reference: string, { root, anchors }: Reader): string | null {
  const id = isRecord(root) ? root["$id"] : undefined;
  const at = reference.indexOf("#");
  const url = at === -1 ? reference : reference.slice(0, at);
  if (url !== "" && url !== id) return "Only references inside the schema are supported.";
  const fragment = at === -1 ? "" : unescaped(reference.slice(at + 1));
  if (fragment === null) return "Malformed reference.";
  const found = fragment === "" || (fragment.startsWith("/") ? leads(fragment, root) : anchors.has(fragment));
  return found ? null : "The reference has no target.";
}

/** Whether a JSON pointer has a schema as its target. */
function leads(pointer: string, root: unknown): boolean {
  let value = root;
  for (const part of pointer.slice(1).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return false;
    value = (value as Record<string, unknown>)[key];
  }
  return typeof value === "boolean" || isRecord(value);
}

function unescaped(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return null;
  }
}

function compiles(pattern: string): boolean {
  try {
    return Boolean(new RegExp(pattern, "u"));
  } catch {
    return false;
  }
}
