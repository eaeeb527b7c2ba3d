// response_regex: whether a pattern occurs in the reply, or in a text of the spans it is aimed at.

import type { Match } from "../../model/run/run.ts";
import { sandboxTextMax } from "../../model/sandbox.ts";
import { type AssertionOf, matchOf } from "../../model/test-case/assertion.ts";
import type { FoundText } from "../../model/trace/trace.ts";
import { allOrAny, type Try } from "../all-or-any.ts";
import { type CheckOf, type Context, questionKey } from "../check-context.ts";
import { placeOfText } from "../evidence.ts";
import { evidenceMax, excerpt, passage, shortName } from "../excerpt.ts";
import { affordPattern, findApart, isSearchedInline } from "../pattern-search.ts";
import { redacted } from "../redacted.ts";
import { findTexts, unlessUntold } from "../targets.ts";

export const responseRegex: CheckOf<"response_regex"> = (assertion, context) => {
  const { pattern, flags, target_node } = assertion;
  const expected = { pattern, ...(flags ? { flags } : {}) };
  const target = findTexts(target_node, context.view, expected);
  if (!("texts" in target)) return target;
  const { texts } = target;
  const result = allOrAny(matchOf(assertion), texts, found => search(assertion, found, context));
  if (result.kind === "open") return result;
  if (result.kind === "skipped") {
    const evidence = texts.slice(-evidenceMax).map(placeOfText);
    return { ...result, expected, actual: excerpt(texts.at(-1)!.text), evidence };
  }
  const holds = result.kind === "holds";
  const untold = unlessUntold(assertion, target, holds, expected);
  if (untold) return untold;
  const { found, match } = result.values.at(-1)!;
  const data = {
    pattern: shortName(pattern),
    ...(target_node === undefined ? {} : { target: shortName(target_node) }),
  };
  const every = result.values.length > 1 ? { every: true as const } : {};
  return {
    kind: "compared",
    holds,
    reason: holds
      ? { code: "pattern_found", data: { ...data, ...every } }
      : { code: "pattern_not_found", data },
    expected,
    actual: match?.text ?? excerpt(found.text),
    evidence: result.values.slice(-evidenceMax).map(({ found }) => placeOfText(found)),
    ...(match ? { match } : {}),
  };
};

/** `match`: what the pattern matched; null where the sandbox found it, which says only that it occurs. */
type Hit = { found: FoundText; match: Match | null };

function search(assertion: AssertionOf<"response_regex">, found: FoundText, context: Context): Try<Hit> {
  const flags = assertion.flags ?? "";
  const { budget } = context.view;
  const pattern = affordPattern(assertion.pattern, flags, budget);
  const whole = found.text.slice(0, sandboxTextMax);
  const { text, placeOf } = pattern.read(whole);
  const cut: Try<Hit> = {
    kind: "skipped",
    skipped: "limit",
    reason: { code: "text_too_long", data: { max: sandboxTextMax } },
  };
  const isCut = whole.length < found.text.length;
  const places = context.view.redactedIn(text);

  if (isSearchedInline(pattern, text)) {
    const at = budget.timed(() => (pattern.occursIn(text) ? findApart(pattern, text, places) : null));
    if (at) return { kind: "holds", value: { found, match: passage(whole, placeOf(at)) } };
    if (places.length > 0) return redacted(places);
    return isCut ? cut : { kind: "fails", value: { found, match: null } };
  }
  // The sandbox does not say where the pattern occurs.
  if (places.length > 0) return redacted(places);
  const key = questionKey(context.test, assertion.id, found.spanId);
  const answer = context.answers.sandbox.get(key);
  if (!answer) {
    const question = { kind: "pattern" as const, pattern: pattern.source, flags, text };
    return { kind: "open", asked: { sandbox: [{ key, question }] } };
  }
  if (answer.state !== "ok") return { kind: "skipped", skipped: "limit", reason: answer.reason };
  if (isCut && (!answer.holds || looksAtEnd(assertion.pattern))) return cut;
  return { kind: answer.holds ? "holds" : "fails", value: { found, match: null } };
}

/** Whether the end of a text can decide if the pattern occurs in it. May be true of a literal too, such as `\$`. */
function looksAtEnd(pattern: string): boolean {
  return /\$|\\[zb]/i.test(pattern);
}
