// Finds what a check looks at: the reply, the texts of named spans or an attribute of named spans; or why it is absent.

import type { Reason } from "../model/run/reason.ts";
import { receivedAttributes } from "../model/run/received.ts";
import { type AssertionOf, matchOf } from "../model/test-case/assertion.ts";
import type { FoundText, Span } from "../model/trace/trace.ts";
import { attributeOf, messagesOf } from "../reading/span/conversation.ts";
import { distinct } from "./all-or-any.ts";
import { namesOf, placeOf, placesOfSpans } from "./evidence.ts";
import { evidenceMax, shortName, someNames } from "./excerpt.ts";
import type { Finding } from "./finding.ts";
import type { TraceView } from "./trace-view.ts";

type Absent = Finding & { kind: "absent" };

/** The texts that a text check looks at, each once, and the spans that have none although the target names them. */
export type Texts = { texts: FoundText[]; without: Span[] };

export function findTexts(target: string | undefined, view: TraceView, expected: unknown): Texts | Absent {
  if (target === undefined) {
    const { judgedText } = view.derived;
    if (judgedText) return { texts: [judgedText], without: [] };
    const isBlank = view.received?.reply === true;
    const evidence = view.rootWithout(isBlank ? receivedAttributes.reply : "gen_ai.response.text");
    const code = isBlank ? "blank_reply" : "no_reply";
    return hasAgentFailed(view)
      ? absent("failed", { code: "failed_without_reply" }, expected, { evidence })
      : absent("missing_instrumentation", { code }, expected, { evidence });
  }
  const spans = view.spansNamed(target);
  if (spans.length === 0) return noSpanNamed(target, view, expected);
  const texts = distinct(view.textsNamed(target), ({ text }) => text);
  if (texts.length > 0) return { texts, without: spans.filter(span => isUntold(span, view)) };
  const reason = { code: "no_text_in_spans", data: { target: shortName(target) } } as const;
  return absent("missing_instrumentation", reason, expected, placesWithout(spans, "gen_ai.response.text"));
}

/** Whether the agent itself failed, not a step below it: such a failure was handled. Of several turns, in the last. */
function hasAgentFailed({ received, derived, spans }: TraceView): boolean {
  return (
    received?.failed === true ||
    spans.some(({ span_id, status }) => span_id === derived.rootSpanId && status?.code === 2)
  );
}

/** Whether it has neither a text nor messages, which would show that there was none. */
function isUntold(span: Span, view: TraceView): boolean {
  return !view.textOf(span) && messagesOf(attributeOf(span, "gen_ai.output.messages")) === null;
}

/**
 * Missing instrumentation where a span without a text could change what the other texts come to: none may hold, or all must.
 * Null: it could not.
 */
export function unlessUntold(
  assertion: AssertionOf<"response_regex" | "semantic">,
  { without }: Texts,
  holds: boolean,
  expected: unknown,
): Absent | null {
  if (without.length === 0 || assertion.target_node === undefined) return null;
  const match = matchOf(assertion);
  if (holds === (match === "any") || (match === "any" && !assertion.negate)) return null;
  const data = { target: shortName(assertion.target_node), without: without.length };
  const places = placesWithout(without, "gen_ai.response.text");
  return absent("missing_instrumentation", { code: "no_text_in_spans", data }, expected, places);
}

/** Missing instrumentation: values of these spans are no JSON, and could be what the check forbids. */
export function notJson(target: string, field: string, spans: Span[], expected: unknown): Absent {
  const data = { target: shortName(target), field: shortName(field), values: spans.length };
  const evidence = spans.slice(0, evidenceMax).map(span => placeOf(span, field));
  return absent("missing_instrumentation", { code: "not_json", data }, expected, { evidence });
}

/** The spans that the target names and that have the attribute. */
export function findHolders(
  target: string,
  field: string,
  view: TraceView,
  expected: unknown,
): Span[] | Absent {
  const spans = view.spansNamed(target);
  if (spans.length === 0) return noSpanNamed(target, view, expected);
  view.budget.spend(spans.length);
  const holders = spans.filter(span => attributeOf(span, field) !== undefined);
  if (holders.length > 0) return holders;
  const data = { target: shortName(target), field: shortName(field) };
  return absent("failed", { code: "no_attribute", data }, expected, placesWithout(spans, field));
}

function noSpanNamed(target: string, view: TraceView, expected: unknown): Absent {
  const searched = namesOf(view.spans);
  const data = { target: shortName(target), spans: someNames(searched) };
  return absent("failed", { code: "no_span", data }, expected, {
    searched,
    evidence: placesOfSpans(view.spans),
  });
}

function absent(
  outcome: Absent["outcome"],
  reason: Reason,
  expected: unknown,
  { searched, evidence }: { searched?: string[]; evidence: Absent["evidence"] },
): Absent {
  return { kind: "absent", outcome, reason, expected, actual: searched ? { searched } : null, evidence };
}

function placesWithout(spans: Span[], attribute: string): Pick<Absent, "evidence"> {
  return { evidence: spans.slice(0, evidenceMax).map(span => ({ spanId: span.span_id, attribute })) };
}
