// Conditions of JSON Schema, for rules of the OpenAPI document that concern several fields.

type Schema = Record<string, unknown> | boolean;

/** What a value must also be if it fits `condition`, and if it does not. */
export function ifThen(condition: Schema, consequence: Schema, otherwise: Schema = true) {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  return { if: condition, then: consequence, ...(otherwise !== true && { else: otherwise }) };
}
