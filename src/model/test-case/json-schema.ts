// JSON Schemas as test cases may use them: two drafts, bounded in size and depth, every reference inside the schema.
import { isWithin, step } from "../path.ts";
import type { Issue } from "../refusal.ts";

const schemaBytesMax = 64 * 1024;
const schemaDepthMax = 64;

export type SchemaDraft = "2020-12" | "7";

/** The draft that `$schema` names, 2020-12 where it names none; null for any other. */
export function draftOf(schema: unknown): SchemaDraft | null {
  const named = isRecord(schema) ? schema["$schema"] : undefined;
  if (named === undefined) return "2020-12";
  if (typeof named !== "string") return null;
  const address = named.replace(/^https?:\/\//, "").replace(/#$/, "");
  return address === "json-schema.org/draft/2020-12/schema"
    ? "2020-12"
    : address === "json-schema.org/draft-07/schema"
      ? "7"
      : null;
}

/** What keeps the schema from being used; paths begin at the schema itself, as `.properties.id`. Never throws. */
export function schemaIssues(schema: unknown): Issue[] {
  if (typeof schema !== "boolean" && !isRecord(schema)) {
    return [{ path: "", message: "A schema is an object, true or false." }];
  }
  if (!isWithin(schema, schemaDepthMax)) {
    return [{ path: "", message: `A schema is at most ${schemaDepthMax} levels deep.` }];
  }
  if (Buffer.byteLength(JSON.stringify(schema)) > schemaBytesMax) {
    return [{ path: "", message: `A schema has at most ${schemaBytesMax / 1024} KB as JSON text.` }];
  }
  const draft = draftOf(schema);
  if (!draft) return [{ path: ".$schema", message: "Only draft 2020-12 and draft 7 are supported." }];

  const reader: Reader = { draft, issues: [], references: [], anchors: new Set(), root: schema };
  readSchema(schema, "", reader);
  for (const { reference, path } of reader.references) {
    const fault = referenceFault(reference, reader);
    if (fault) reader.issues.push({ path, message: fault });
  }
  return reader.issues;
}

type Reader = {
  draft: SchemaDraft;
  issues: Issue[];
  references: { reference: string; path: string }[];
  anchors: Set<string>;
  root: unknown;
};

type Shape =
  | "schema"
  | "schemas"
  | "schema_map"
  | "items"
  | "dependencies"
  | "type"
  | "count"
  | "number"
  | "positive"
  | "flag"
  | "address"
  | "text"
  | "texts"
  | "text_lists"
  | "pattern"
  | "list";

/** Keywords with a shape of their own; any other key is an annotation and may hold anything. */
const shapes: Record<string, Shape> = {
  type: "type",
  enum: "list",
  required: "texts",
  properties: "schema_map",
  patternProperties: "schema_map",
  additionalProperties: "schema",
  propertyNames: "schema",
  unevaluatedProperties: "schema",
  minProperties: "count",
  maxProperties: "count",
  dependentRequired: "text_lists",
  dependentSchemas: "schema_map",
  dependencies: "dependencies",
  prefixItems: "schemas",
  items: "items",
  additionalItems: "schema",
  unevaluatedItems: "schema",
  contains: "schema",
  minContains: "count",
  maxContains: "count",
  minItems: "count",
  maxItems: "count",
  uniqueItems: "flag",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number",
  exclusiveMaximum: "number",
  multipleOf: "positive",
  minLength: "count",
  maxLength: "count",
  pattern: "pattern",
  format: "text",
  allOf: "schemas",
  anyOf: "schemas",
  oneOf: "schemas",
  not: "schema",
  if: "schema",
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, in a table that nobody awaits.
  then: "schema",
  else: "schema",
  $defs: "schema_map",
  definitions: "schema_map",
  $ref: "text",
  $anchor: "text",
};

const typeNames = ["array", "boolean", "integer", "null", "number", "object", "string"];

function readSchema(schema: unknown, path: string, reader: Reader): void {
  if (typeof schema === "boolean") return;
  if (!isRecord(schema)) {
    reader.issues.push({ path, message: "Expected a schema: an object, true or false." });
    return;
  }
  for (const [key, value] of Object.entries(schema)) {
    const at = path + step(key);
    // Only the top may bear an id: below it, an id would change what every reference means.
    if (key === "$id" || key === "id") {
      if (path !== "") reader.issues.push({ path: at, message: "Only the top of a schema may have an id." });
      else readKeyword("address", value, at, reader);
    } else if (key === "$dynamicRef" || key === "$recursiveRef") {
      reader.issues.push({ path: at, message: `${key} is not supported; use $ref.` });
    } else if (Object.hasOwn(shapes, key)) {
      readKeyword(shapes[key]!, value, at, reader);
      if (key === "patternProperties" && isRecord(value)) {
        for (const pattern of Object.keys(value)) readKeyword("pattern", pattern, at + step(pattern), reader);
      }
      if (key === "$ref" && typeof value === "string") reader.references.push({ reference: value, path: at });
      if (key === "$anchor" && typeof value === "string") reader.anchors.add(value);
    }
  }
}

function readKeyword(shape: Shape, value: unknown, path: string, reader: Reader): void {
  const expect = (fits: boolean, expected: string) => {
    if (!fits) reader.issues.push({ path, message: `Expected ${expected}.` });
  };
  switch (shape) {
    case "schema":
      readSchema(value, path, reader);
      return;
    case "schemas":
      expect(Array.isArray(value) && value.length > 0, "a list of schemas");
      if (Array.isArray(value)) value.forEach((item, at) => void readSchema(item, `${path}[${at}]`, reader));
      return;
    case "schema_map":
      expect(isRecord(value), "an object of schemas");
      if (isRecord(value)) for (const key in value) readSchema(value[key], path + step(key), reader);
      return;
    case "items":
      readKeyword(Array.isArray(value) && reader.draft === "7" ? "schemas" : "schema", value, path, reader);
      return;
    case "dependencies":
      expect(isRecord(value), "an object of schemas or of lists of names");
      if (!isRecord(value)) return;
      for (const key in value) {
        readKeyword(Array.isArray(value[key]) ? "texts" : "schema", value[key], path + step(key), reader);
      }
      return;
    case "type":
      expect(
        [value].flat().length > 0 && [value].flat().every(name => typeNames.includes(String(name))),
        `one or several of ${typeNames.join(", ")}`,
      );
      return;
    case "count":
      expect(Number.isSafeInteger(value) && (value as number) >= 0, "a whole number of 0 or more");
      return;
    case "number":
      expect(typeof value === "number", "a number");
      return;
    case "positive":
      expect(typeof value === "number" && value > 0, "a number greater than 0");
      return;
    case "flag":
      expect(typeof value === "boolean", "true or false");
      return;
    case "address":
      expect(typeof value === "string" && URL.canParse(value, "https://schema.invalid/"), "an address");
      return;
    case "text":
      expect(typeof value === "string", "a text");
      return;
    case "texts":
      expect(Array.isArray(value) && value.every(item => typeof item === "string"), "a list of texts");
      return;
    case "text_lists":
      expect(isRecord(value), "an object of lists of names");
      if (isRecord(value))
        for (const key in value) readKeyword("texts", value[key], path + step(key), reader);
      return;
    case "list":
      expect(Array.isArray(value), "a list");
      return;
    case "pattern":
      expect(typeof value === "string" && compiles(value), "a valid regular expression");
      return;
  }
}

function referenceFault(reference: string, { root, anchors }: Reader): string | null {
  const id = isRecord(root) ? root["$id"] : undefined;
  const at = reference.indexOf("#");
  const address = at === -1 ? reference : reference.slice(0, at);
  if (address !== "" && address !== id) return "Only references inside the schema itself are followed.";
  const fragment = at === -1 ? "" : unescaped(reference.slice(at + 1));
  if (fragment === null) return "This reference is not well formed.";
  const found = fragment === "" || (fragment.startsWith("/") ? leads(fragment, root) : anchors.has(fragment));
  return found ? null : "This reference leads nowhere.";
}

/** Whether a JSON pointer leads to a schema. */
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
