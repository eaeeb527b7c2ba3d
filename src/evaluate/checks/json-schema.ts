// json_schema: whether an attribute of some span with that name, parsed as JSON, is valid against a schema.

import { isLongInteger } from "../../model/long-integers.ts";
import { pseudonymRule, type RedactedPlace } from "../../model/redaction.ts";
import { sandboxTextMax } from "../../model/sandbox.ts";
import { type AssertionOf, matchOf } from "../../model/test-case/assertion.ts";
import type { Span } from "../../model/trace/trace.ts";
import { attributeOf } from "../../reading/span/conversation.ts";
import { allOrAny, distinct, type Try } from "../all-or-any.ts";
import { type CheckOf, type Context, questionKey } from "../check-context.ts";
import { placeOf } from "../evidence.ts";
import { evidenceMax, excerpt, shortName } from "../excerpt.ts";
import { mayBeAnyJson, redacted } from "../redacted.ts";
import { findHolders, notJson } from "../targets.ts";

export const jsonSchema: CheckOf<"json_schema"> = (assertion, context) => {
  const { target_node, field, schema } = assertion;
  const expected = { schema: excerpt(schema) };
  const holders = findHolders(target_node, field, context.view, expected);
  if (!Array.isArray(holders)) return holders;
  const candidates = distinct(
    holders.map(span => ({
      span,
      text: context.view.printed(span, field),
      isText: typeof attributeOf(span, field) === "string",
    })),
    ({ text }) => text,
  );
  const printed = JSON.stringify(schema);
  const result = allOrAny(matchOf(assertion), candidates, candidate =>
    unlessUnread(assertion, candidate, validate(assertion.id, printed, candidate, context), context),
  );
  if (result.kind === "open") return result;
  if (result.kind === "unread") {
    return notJson(
      target_node,
      field,
      result.values.map(({ span }) => span),
      expected,
    );
  }
  const placesOf = (some: { span: Span }[]) =>
    some.slice(-evidenceMax).map(({ span }) => placeOf(span, field));
  if (result.kind === "skipped") {
    return { ...result, expected, actual: null, evidence: placesOf(candidates) };
  }
  const where = { field: shortName(field), target: shortName(target_node) };
  if (result.kind === "holds") {
    const { span } = result.values.at(-1)!;
    const actual = excerpt(attributeOf(span, field));
    return {
      kind: "compared",
      holds: true,
      reason: { code: "schema_valid", data: where },
      expected,
      actual,
      evidence: placesOf(result.values),
    };
  }
  const { span, faults } = result.values.at(-1)!;
  return {
    kind: "compared",
    holds: false,
    reason: {
      code: "schema_invalid",
      data: { ...where, fault: faults[0] ?? "It does not match the schema." },
    },
    expected,
    actual: { value: excerpt(attributeOf(span, field)), faults },
    evidence: placesOf(result.values),
  };
};

/** A value that is no JSON is invalid, but not proven to be other than what a negated check forbids. */
function unlessUnread(
  { negate, field }: AssertionOf<"json_schema">,
  { span, text, isText }: Candidate,
  tried: Try<Validated>,
  { view }: Context,
): Try<Validated> {
  const isUnread = tried.kind === "fails" && negate && isText && view.parsed(span, field, text) === undefined;
  return isUnread ? { ...tried, kind: "unread" } : tried;
}

/** `isText`: what was sent is that text; else it is JSON of what was sent. */
type Candidate = { span: Span; text: string; isText: boolean };
type Validated = { span: Span; faults: string[] };

function validate(
  id: string,
  schema: string,
  { span, text, isText }: Candidate,
  { view, test, answers }: Context,
): Try<Validated> {
  const places = view.redactedIn(text);
  if (places.length > 0 && (readsTexts(schema) || !keepsTypes(text, isText, places))) return redacted(places);
  if (text.length > sandboxTextMax) {
    return {
      kind: "skipped",
      skipped: "limit",
      reason: { code: "text_too_long", data: { max: sandboxTextMax } },
    };
  }
  const key = questionKey(test, id, span.span_id);
  const readings = [{ key, value: text }];
  const withIntegers = isText ? text : unquoteLongIntegers(text);
  if (withIntegers !== text) readings.push({ key: `${key} integers`, value: withIntegers });
  const asked = readings.flatMap(({ key, value }) =>
    answers.sandbox.has(key) ? [] : [{ key, question: { kind: "schema" as const, schema, value } }],
  );
  if (asked.length > 0) return { kind: "open", asked: { sandbox: asked } };
  const faults: string[][] = [];
  for (const { key } of readings) {
    const answer = answers.sandbox.get(key)!;
    if (answer.state !== "ok") return { kind: "skipped", skipped: "limit", reason: answer.reason };
    if (answer.holds) return { kind: "holds", value: { span, faults: [] } };
    faults.push(answer.faults);
  }
  return { kind: "fails", value: { span, faults: faultsOf(faults) } };
}

/**
 * JSON with its long integers as numbers. They are kept as text, and nothing tells whether an integer or its text was sent,
 * so either may be valid. Only a value is preceded and followed like this: within a text, quotes are escaped.
 */
function unquoteLongIntegers(json: string): string {
  return json.replace(/(?<=^|[[,:])"(-?[1-9]\d{15,})"(?=$|[\],}])/g, (quoted, digits: string) =>
    isLongInteger(digits) ? digits : quoted,
  );
}

/** Those of both readings, else those of the last. */
function faultsOf(readings: string[][]): string[] {
  const last = readings.at(-1)!;
  const common = last.filter(fault => readings.every(faults => faults.includes(fault)));
  return common.length > 0 ? common : last;
}

/** Whether the redaction left the types of all values as they were. A pseudonym may stand for a number. */
function keepsTypes(text: string, isText: boolean, places: RedactedPlace[]): boolean {
  return isText ? !mayBeAnyJson(text, places) : !places.some(({ rule }) => rule === pseudonymRule);
}

const textKeywords =
  /"(?:pattern|format|enum|const|minLength|maxLength|uniqueItems|content(?:Encoding|MediaType|Schema))"\s*:/;

/** Whether more than the types and names in a value decides if it is valid. A property of such a name counts too. */
function readsTexts(schema: string): boolean {
  return textKeywords.test(schema);
}
