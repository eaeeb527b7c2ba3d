// What a check is aimed at: the reply, the texts of named spans, or an attribute of named spans; or why there is none (E2).
import { attributeOf } from "../model/conversation/conversation.ts";
import type { FoundText, Span } from "../model/trace/trace.ts";
import { distinct } from "./any-of.ts";
import { evidenceMax, quote, quoteSome } from "./excerpt.ts";
import type { Finding } from "./finding.ts";
import { namesOf, placesOfSpans, type TraceView } from "./trace-view.ts";

type Absent = Finding & { kind: "absent" };

/** The texts that a text check looks at, each once. */
export function findTexts(
  target: string | undefined,
  view: TraceView,
  expected: unknown,
): FoundText[] | Absent {
  if (target === undefined) {
    const { judgedText, failed } = view.derived;
    if (judgedText) return [judgedText];
    const reason = failed
      ? "The run broke and gave no reply."
      : "The trace has no reply text: gen_ai.response.text and gen_ai.output.messages are absent.";
    const evidence = view.rootWithout("gen_ai.response.text");
    return absent(failed ? "failed" : "missing_instrumentation", reason, expected, { evidence });
  }
  const spans = view.spansNamed(target);
  if (spans.length === 0) return noSpanNamed(target, view, expected);
  const texts = distinct(view.textsNamed(target), ({ text }) => text);
  if (texts.length > 0) return texts;
  const reason = `No span named like ${quote(target)} has a text: gen_ai.response.text and gen_ai.output.messages are absent.`;
  return absent("missing_instrumentation", reason, expected, placesWithout(spans, "gen_ai.response.text"));
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
  const holders = spans.filter(span => attributeOf(span, field) !== undefined);
  if (holders.length > 0) return holders;
  const reason = `No span named like ${quote(target)} has the attribute ${quote(field)}.`;
  return absent("failed", reason, expected, placesWithout(spans, field));
}

function noSpanNamed(target: string, view: TraceView, expected: unknown): Absent {
  const searched = namesOf(view.spans);
  const reason = `No span is named like ${quote(target)}; the spans are ${quoteSome(searched)}.`;
  return absent("failed", reason, expected, { searched, evidence: placesOfSpans(view.spans) });
}

function absent(
  outcome: Absent["outcome"],
  reason: string,
  expected: unknown,
  { searched, evidence }: { searched?: string[]; evidence: Absent["evidence"] },
): Absent {
  return { kind: "absent", outcome, reason, expected, actual: searched ? { searched } : null, evidence };
}

function placesWithout(spans: Span[], attribute: string): Pick<Absent, "evidence"> {
  return { evidence: spans.slice(0, evidenceMax).map(span => ({ spanId: span.span_id, attribute })) };
}
