// Warns about checks that look for what the project's privacy rules take out of traces before they are stored.

import type { BuiltInRule, RedactionRules } from "../model/redaction.ts";
import type { Issue } from "../model/refusal.ts";
import type { Assertion } from "../model/test-case/assertion.ts";
import type { TestCaseDocument } from "../model/test-case/document.ts";
import { compilePattern } from "../model/test-case/pattern.ts";
import { openRedactor, type Redactor } from "../redaction.ts";

/** Warnings about a valid document, with paths like those of validation issues. */
export function privacyWarnings(
  document: Pick<TestCaseDocument, "assertions">,
  rules: RedactionRules,
): Issue[] {
  // Only what is found counts, not what would stand in its place.
  const redactor = openRedactor(rules, value => value);
  if (!redactor) return [];
  return document.assertions.flatMap((assertion, at) =>
    warningsOf(assertion, redactor, rules).map(({ path, message }) => ({
      path: `assertions[${at}]${path}`,
      message,
    })),
  );
}

function warningsOf(assertion: Assertion, redactor: Redactor, { pseudonyms }: RedactionRules): Issue[] {
  switch (assertion.type) {
    case "json_match": {
      const { field, expected_value } = assertion;
      if (pseudonyms.includes(field)) {
        const message =
          "The project's privacy settings replace this attribute by a pseudonym, so this check is skipped.";
        return [{ path: ".field", message }];
      }
      return redacted(".expected_value", rulesIn(expected_value, redactor));
    }
    case "tool_call":
      return redacted(".expected_arguments", rulesIn(assertion.expected_arguments, redactor));
    case "response_regex":
      return redacted(".pattern", rulesOfPattern(assertion.pattern, assertion.flags ?? "", redactor));
    case "semantic":
      return [assertion.criteria].flat().flatMap((criterion, at) => {
        const rules = new Set([...rulesIn(criterion, redactor), ...rulesNamedIn(criterion, redactor)]);
        return redacted(Array.isArray(assertion.criteria) ? `.criteria[${at}]` : ".criteria", [...rules]);
      });
    default:
      return [];
  }
}

function redacted(path: string, rules: string[]): Issue[] {
  if (rules.length === 0) return [];
  const names = rules.map(rule => `"${rule}"`).join(", ");
  const subject =
    rules.length === 1 ? `The privacy rule ${names} redacts` : `The privacy rules ${names} redact`;
  const message = `${subject} such values before traces are stored: this check is skipped where that could change its outcome.`;
  return [{ path, message }];
}

/** The rules that find something in the texts of a value. */
function rulesIn(value: unknown, redactor: Redactor): string[] {
  if (value === undefined) return [];
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return Object.keys(redactor.text(text).counts);
}

/** A value of each rule as a pattern for such values finds it. */
export const samples: Record<BuiltInRule, string> = {
  email: "ann.miller@shop.example",
  phone: "+49 171 2345678",
  card: "4111 1111 1111 1111",
  iban: "DE89 3704 0044 0532 0130 00",
  ip: "203.0.113.47",
  ssn: "536-90-4399",
  secret: "ghp_a8Xk2Lq9Vt4Rz7Bn1Wc6Ym3Ud5Ef0Gh2Jk4L",
};

/** A text without any such value; a pattern that finds something in it looks for something else. */
const plain = "Thank you, your order was sent on Monday at 10:42. It has 3 parts; number 7 follows.";

function rulesOfPattern(source: string, flags: string, redactor: Redactor): string[] {
  const rules = new Set(rulesIn(source.replaceAll("\\", ""), redactor));
  const pattern = compilePattern(source, flags);
  if (pattern.occursIn(plain) || pattern.occursIn("")) return [...rules];
  for (const [rule, sample] of Object.entries(samples)) {
    if (redactor.names.includes(rule) && pattern.occursIn(sample)) rules.add(rule);
  }
  return [...rules];
}

/** How criteria name such values, in English. */
const words: Record<BuiltInRule, RegExp> = {
  email: /\be-?mails?(?: address(?:es)?)?\b/i,
  phone: /\b(?:tele)?phone numbers?\b/i,
  card: /\b(?:credit|debit|payment)?[- ]?card numbers?\b/i,
  iban: /\bIBANs?\b|\bbank accounts?\b/i,
  ip: /\bIP address(?:es)?\b/i,
  ssn: /\bsocial security numbers?\b|\bSSNs?\b/i,
  secret: /\bpasswords?\b|\bAPI keys?\b|\bsecrets?\b|\baccess tokens?\b/i,
};

function rulesNamedIn(criterion: string, redactor: Redactor): string[] {
  return Object.entries(words).flatMap(([rule, word]) =>
    redactor.names.includes(rule) && word.test(criterion) ? [rule] : [],
  );
}
