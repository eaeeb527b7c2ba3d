// Places what a check looked at where conventions read it: evidence and quotations name the attribute that was sent.

import type { Check, Evidence, SemanticActual } from "../model/run/run.ts";
import type { Span } from "../model/trace/trace.ts";
import { sourceOf } from "../reading/span/sources.ts";

type Translated = ReadonlyMap<string, Span>;

/** The spans that conventions translated, by id. */
export function translatedSpans(spans: Span[]): Translated {
  return new Map(spans.flatMap(span => (span.translated ? [[span.span_id, span] as const] : [])));
}

export function atSources(check: Check, translated: Translated): Check {
  if (translated.size === 0) return check;
  return {
    ...check,
    evidence: check.evidence.map(place => placed(place, translated)),
    ...(check.type === "semantic" ? { actual: withPlaces(check.actual, translated) } : {}),
  };
}

function placed<P extends Pick<Evidence, "spanId" | "attribute">>(place: P, translated: Translated): P {
  const span = translated.get(place.spanId);
  const source = span && place.attribute !== null ? sourceOf(span, place.attribute) : undefined;
  if (!source || place.attribute === null) return place;
  const { attribute, convention } = source;
  return { ...place, attribute, translated: { as: place.attribute, convention } };
}

function withPlaces(actual: unknown, translated: Translated): unknown {
  if (typeof actual !== "object" || actual === null) return actual;
  const { criteria, material } = actual as Partial<SemanticActual>;
  return {
    ...actual,
    ...(criteria && {
      criteria: criteria.map(criterion => {
        const { quotes } = criterion;
        if (!quotes) return criterion;
        const inSpans = quotes.map(quote =>
          quote.spanId === null ? quote : placed({ ...quote, spanId: quote.spanId }, translated),
        );
        return { ...criterion, quotes: inSpans };
      }),
    }),
    ...(material?.suspicious && {
      material: { ...material, suspicious: placed(material.suspicious, translated) },
    }),
  };
}
