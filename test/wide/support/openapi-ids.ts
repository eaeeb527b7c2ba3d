// Puts ids of existing things into an OpenAPI document, so that requests generated from it reach more than 404.

/** By noun: an id for every method, or another one for methods that would delete or disconnect it. */
export type Ids = Record<string, { id: string; spare?: string }>;

export type Schema = {
  enum?: unknown[];
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  items?: Schema;
  [keyword: string]: unknown;
};
type Parameter = { name: string; in: string; schema: Schema };
type Operation = { parameters?: Parameter[]; requestBody?: { content: Record<string, { schema?: Schema }> } };
export type Description = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

/** These change what other requests need. */
const destructive = /^delete |^put \/api\/(projects\/{id}\/judge|agents\/{id}\/connection|tests\/{id})$/;

/** `values`: of fields and parameters by name. */
export function withIds(description: Description, ids: Ids, values: Record<string, unknown[]>): Description {
  const copy = structuredClone(description);
  for (const [path, operations] of Object.entries(copy.paths)) {
    for (const [method, { parameters = [], requestBody }] of Object.entries(operations)) {
      const { id, spare = id } = ids[path.split("/")[2]!] ?? {};
      for (const parameter of parameters) {
        const named = values[parameter.name];
        if (named) parameter.schema.enum = named;
        if (parameter.in !== "path" || parameter.name !== "id" || !id) continue;
        parameter.schema.enum = [destructive.test(`${method} ${path}`) ? spare : id];
      }
      for (const { schema } of Object.values(requestBody?.content ?? {})) if (schema) fill(schema, values);
    }
  }
  fill(copy.components.schemas["CanonicalTrace"]!, values);
  return copy;
}

function fill(schema: Schema, values: Record<string, unknown[]>): void {
  const [variant] = schema.anyOf ?? [];
  // A connection is of the type of its agent, which it need not name.
  if (variant?.properties?.["type"]?.enum?.includes("http_api")) schema.anyOf = [variant];
  const { properties = {} } = schema;
  for (const [name, field] of Object.entries(properties)) {
    const named = values[name];
    if (!named) fill(field, values);
    else if (field.items) field.items.enum = named;
    else field.enum = named;
  }
}
