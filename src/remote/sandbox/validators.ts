// Validators of JSON Schemas, cached by the schema's text.
import { type Schema, validate } from "@cfworker/json-schema";
import { parseUnaltered } from "../../model/json-exact.ts";
import { draftOf, newerThanDraft7 } from "../../model/test-case/json-schema.ts";
import { withIntegers } from "../../model/test-case/schema-integers.ts";
import { readReferences } from "../../model/test-case/schema-references.ts";
import { faultText } from "./schema-faults.ts";

/** What is wrong with a value: at most five sentences, the innermost fault first; empty if it is valid. */
type Validator = (value: unknown) => string[];

/** A schema cannot be used; such schemas are refused on save, but may have been saved before. */
export class SchemaFault extends Error {
  override name = "SchemaFault";
}

const faultsMax = 5;
const validatorsMax = 100;
/** Characters of schemas whose validators are cached: each takes a multiple of its text. */
const schemaCharsMax = 256 * 1024;
const validators = new Map<string, Validator>();
let schemaChars = 0;

export function validatorOf(schema: string): Validator {
  const known = validators.get(schema);
  if (known) return known;
  const made = makeValidator(withIntegers(parseUnaltered(schema)) as Schema | boolean);
  schemaChars += schema.length;
  for (const oldest of validators.keys()) {
    if (validators.size < validatorsMax && schemaChars <= schemaCharsMax) break;
    validators.delete(oldest);
    schemaChars -= oldest.length;
  }
  validators.set(schema, made);
  return made;
}

/**
 * Resolves the references itself: the library's way knows other places than those checked on save. The schema is
 * changed.
 */
function makeValidator(schema: Schema | boolean): Validator {
  const { subschemas, targets, issues } = readReferences(schema);
  if (issues.length > 0) throw new SchemaFault(issues[0]!.message);
  const lookup: Record<string, Schema | boolean> = Object.create(null);
  for (const [at, [holder, target]] of [...targets].entries()) {
    const key = `reference ${at}`;
    lookup[key] = target as Schema | boolean;
    Object.defineProperty(holder, "__absolute_ref__", { value: key });
  }
  const draft = draftOf(schema) ?? "2020-12";
  if (draft === "7") {
    // The library obeys these keywords whatever the draft.
    for (const { schema } of subschemas) for (const keyword of newerThanDraft7) delete schema[keyword];
  }
  return value => {
    // The library lists the outer keywords first and the failing one last.
    const { errors } = validate(value, schema, draft, lookup);
    return [
      ...new Set(errors.slice(-faultsMax).map(unit => faultText(unit, { schema, targets, value }))),
    ].toReversed();
  };
}
