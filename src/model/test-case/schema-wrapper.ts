// JSON Schemas as they are pasted from requests to model providers, in the object around the schema.
import { isRecord } from "../record.ts";
import type { Issue } from "../refusal.ts";

/** The fields of such objects that hold the schema, or another such object. */
const holders = [
  "schema",
  "json_schema",
  "response_format",
  "format",
  "text",
  "function",
  "parameters",
  "input_schema",
];
/** What else such an object may have. */
const others = ["type", "name", "strict", "description"];
const types = [undefined, "json_schema", "function"];

/** The schema without the objects around it; what is none of them, as it is. */
export function unwrappedSchema(given: unknown): unknown {
  let schema = given;
  for (;;) {
    const inner = innerOf(schema);
    if (inner === undefined) return schema;
    schema = inner;
  }
}

function innerOf(wrapper: unknown): unknown {
  if (!isRecord(wrapper)) return undefined;
  const [holder, second] = holders.filter(name => isRecord(wrapper[name]));
  const isWrapper =
    holder !== undefined &&
    second === undefined &&
    types.includes(wrapper["type"] as string | undefined) &&
    Object.keys(wrapper).every(name => name === holder || others.includes(name));
  return isWrapper ? wrapper[holder] : undefined;
}

/** Of a client's test case, not yet validated: which schemas are unwrapped. */
export function wrapperNotices(input: unknown): Issue[] {
  const { assertions } = (isRecord(input) ? input : {}) as { assertions?: unknown };
  if (!Array.isArray(assertions)) return [];
  return assertions.flatMap((one: unknown, at) => {
    if (!isRecord(one) || one["type"] !== "json_schema") return [];
    const { schema } = one;
    return unwrappedSchema(schema) === schema ? [] : [{ path: `assertions[${at}].schema`, message }];
  });
}

const message =
  "This schema is in the wrapper of a model provider’s request. Only the schema itself is kept when you save.";
