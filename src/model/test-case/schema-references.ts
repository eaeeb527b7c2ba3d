// Finds the subschemas of a JSON Schema, and resolves the references between them inside the document.
import { step } from "../path.ts";
import { isRecord } from "../record.ts";
import type { Issue } from "../refusal.ts";

export type Schema = Record<string, unknown>;

/** `path`: from the top, in the notation of JavaScript, such as `.properties.id`. */
export type Subschema = { schema: Schema; path: string };

export type ReadSchema = {
  /** Every subschema that is an object, the top included. */
  subschemas: Subschema[];
  /** Schemas under keywords that no draft knows, such as `components`, which only a reference leads to. */
  referenced: { schema: unknown; path: string }[];
  /** What the `$ref` of a subschema refers to. */
  targets: Map<Schema, unknown>;
  /** References without a target, and those that lead back to themselves. */
  issues: Issue[];
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
/** Subschemas of these keywords are applied to the same value as the schema itself. */
const inPlaceKeywords = new Set([
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "dependentSchemas",
  "dependencies",
]);

/** The base of relative references in a schema without an id. */
const baseUrl = "https://schema.invalid/";

/** The schema must be at most 64 levels deep. Never throws. */
export function readReferences(root: unknown): ReadSchema {
  const read: ReadSchema = { subschemas: [], referenced: [], targets: new Map(), issues: [] };
  const byPointer = new Map<string, unknown>();
  const byAnchor = new Map<string, Schema>();
  collect(root, "", "", { byPointer, byAnchor, subschemas: read.subschemas });
  const base = baseOf(root);
  // Grows while it is read: a reference may lead to a schema under an unknown keyword.
  for (const { schema, path } of read.subschemas) {
    const reference = schema["$ref"];
    if (typeof reference !== "string") continue;
    const refuse = (message: string) => void read.issues.push({ path: `${path}.$ref`, message });
    const url = URL.canParse(reference, base) ? new URL(reference, base) : null;
    if (url === null) {
      refuse("Malformed reference.");
      continue;
    }
    const fragment = unescaped(url.hash.slice(1));
    url.hash = "";
    if (url.href !== base) refuse("Only references inside the schema are supported, such as #/$defs/name.");
    else if (fragment === null) refuse("Malformed reference.");
    else if (fragment !== "" && !fragment.startsWith("/")) {
      const target = byAnchor.get(fragment);
      if (target) read.targets.set(schema, target);
      else refuse("The reference has no target: no subschema has this $anchor.");
    } else {
      if (!byPointer.has(fragment)) {
        const found = valueAt(root, fragment);
        if (found) {
          read.referenced.push({ schema: found.value, path: found.path });
          collect(found.value, fragment, found.path, { byPointer, byAnchor, subschemas: read.subschemas });
        }
      }
      if (byPointer.has(fragment)) read.targets.set(schema, byPointer.get(fragment));
      else refuse("The reference has no target.");
    }
  }
  for (const { path } of inLoops(read)) {
    read.issues.push({ path: `${path}.$ref`, message: "The reference leads back to itself." });
  }
  return read;
}

type Found = { byPointer: Map<string, unknown>; byAnchor: Map<string, Schema>; subschemas: Subschema[] };

function collect(schema: unknown, pointer: string, path: string, found: Found): void {
  if (found.byPointer.has(pointer) || !(typeof schema === "boolean" || isRecord(schema))) return;
  found.byPointer.set(pointer, schema);
  if (!isRecord(schema)) return;
  found.subschemas.push({ schema, path });
  const anchor = schema["$anchor"];
  if (typeof anchor === "string") found.byAnchor.set(anchor, schema);
  for (const [key, value] of Object.entries(schema)) {
    const below = (child: unknown, ...steps: (string | number)[]) =>
      collect(child, pointer + steps.map(segment).join(""), path + steps.map(step).join(""), found);
    if (schemaKeywords.has(key)) {
      if (Array.isArray(value)) value.forEach((item, at) => void below(item, key, at));
      else below(value, key);
    } else if (mapKeywords.has(key) && isRecord(value)) {
      for (const [name, item] of Object.entries(value)) below(item, key, name);
    }
  }
}

function segment(key: string | number): string {
  return `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The schema at a JSON pointer. */
function valueAt(root: unknown, pointer: string): { value: unknown; path: string } | undefined {
  let [value, path] = [root, ""];
  for (const part of pointer.slice(1).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    path += step(Array.isArray(value) ? Number(key) : key);
    value = (value as Schema)[key];
  }
  return typeof value === "boolean" || isRecord(value) ? { value, path } : undefined;
}

/** Subschemas whose reference leads back to them without going into the value: no validation of them would end. */
function inLoops({ subschemas, targets }: ReadSchema): Subschema[] {
  const state = new Map<unknown, "open" | "done">();
  const looping = new Set<unknown>();
  const visit = (schema: unknown): void => {
    if (!isRecord(schema)) return;
    state.set(schema, "open");
    const target = targets.get(schema);
    for (const next of [...(target === undefined ? [] : [target]), ...inPlace(schema)]) {
      if (state.get(next) === "open") looping.add(schema);
      else if (!state.has(next)) visit(next);
    }
    state.set(schema, "done");
  };
  for (const { schema } of subschemas) if (!state.has(schema)) visit(schema);
  return subschemas.filter(({ schema }) => looping.has(schema));
}

function inPlace(schema: Schema): unknown[] {
  return Object.entries(schema).flatMap(([key, value]) => {
    if (!inPlaceKeywords.has(key)) return [];
    return mapKeywords.has(key) && isRecord(value) ? Object.values(value) : [value].flat();
  });
}

function baseOf(root: unknown): string {
  const id = isRecord(root) ? root["$id"] : undefined;
  const url = new URL(typeof id === "string" && URL.canParse(id, baseUrl) ? id : "", baseUrl);
  url.hash = "";
  return url.href;
}

function unescaped(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return null;
  }
}
