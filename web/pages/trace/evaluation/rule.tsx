// The rule of a check as one sentence, with its names and values as code.
import type { Assertion } from "../../../../src/model/test-case/assertion.ts";
import { type Phrase, ruleOf } from "./rule-text.ts";

/** `threshold`: the test's, for checks without one. */
export function Rule({ assertion, threshold }: { assertion: Assertion; threshold: unknown }) {
  return <Phrases phrases={ruleOf(assertion, threshold)} />;
}

export function Phrases({ phrases }: { phrases: Phrase[] }) {
  return phrases.map((phrase, at) =>
    typeof phrase === "string" ? phrase : <code key={at}>{phrase.code}</code>,
  );
}
