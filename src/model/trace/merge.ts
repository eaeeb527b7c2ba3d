// Merges the batches of a trace, with a result that does not depend on their order.

import { countIn, type RuleCounts, rulesOf } from "../redaction.ts";
import { joinRecords } from "./join-records.ts";
import { isSameResource } from "./same-resource.ts";
import { compareSpans } from "./times.ts";
import {
  type Attributes,
  type Batch,
  type MergedTrace,
  observedMark,
  type Span,
  type TracePath,
} from "./trace.ts";

/**
 * Merges batches, given oldest first, without changing them. Of spans with the same id the newest wins, and so does the
 * newest metadata. A batch built from a request and its reply (see observed-turn.ts) counts only until the agent sends one.
 *
 * A canonical trace keeps the order of its spans. An OTLP trace is sorted by start, end and id, spans without a time last,
 * so that neither the order nor the repetition of batches has an effect. Its resource is that of its first span in this
 * order; a span has its own resource only if it differs. Log records are joined to their spans.
 */
export function mergeBatches(all: Batch[], path: TracePath): MergedTrace {
  const ofSpans = all.filter(batch => batch.logRecords === undefined);
  const sent = ofSpans.filter(batch => batch.metadata?.[observedMark] !== true);
  const batches = sent.length > 0 ? sent : ofSpans;
  const severalResources = holdSeveralResources(batches);
  const newest = new Map<string, Span>();
  for (const batch of batches) {
    for (const span of batch.spans) {
      newest.set(
        span.span_id,
        severalResources ? { ...span, resource: span.resource ?? batch.resource ?? {} } : span,
      );
    }
  }
  const spans = [...newest.values()];
  if (path === "otlp") spans.sort(compareSpans);
  const resource = severalResources ? liftResource(spans) : (batches[0]?.resource ?? null);
  const merged = { spans: ofSpans.length < all.length ? joinRecords(spans, all) : spans, resource };
  const metadata = batches.findLast(batch => batch.metadata !== null)?.metadata ?? null;
  const redactions = redactionsOf(all, { ...merged, metadata });
  return { path, ...merged, metadata, ...contentOf(all), ...(redactions && { redactions }) };
}

/** Counted in what is left of several batches. */
function redactionsOf(batches: Batch[], merged: object): RuleCounts | undefined {
  if (batches.length === 1) return batches[0]!.redactions;
  const rules = new Set(batches.flatMap(({ redactions }) => rulesOf(redactions)));
  return rules.size === 0 ? undefined : countIn(merged, [...rules]);
}

/** What is missing in any of the batches is missing in the trace. */
function contentOf(batches: Batch[]): Pick<Batch, "content"> {
  let content: Batch["content"];
  for (const batch of batches) {
    if (batch.content !== undefined && content !== "forgotten") content = batch.content;
  }
  return content === undefined ? {} : { content };
}

function holdSeveralResources(batches: Batch[]): boolean {
  if (batches.some(batch => batch.spans.some(span => span.resource !== undefined))) return true;
  if (batches.length < 2) return false;
  const first = batches[0]!.resource;
  return batches.some(batch => !isSameResource(batch.resource, first));
}

/** Makes the first span's resource the trace's, and removes it from every span that has the same. */
function liftResource(spans: Span[]): Attributes | null {
  const resource = spans[0]?.resource ?? null;
  // The spans of a batch share one object of up to 30 MB: it is compared once, not once per span.
  const isLifted = new Map<Attributes, boolean>();
  for (const span of spans) {
    const own = span.resource!;
    const lifted = isLifted.get(own) ?? isSameResource(own, resource);
    isLifted.set(own, lifted);
    if (lifted) delete span.resource;
  }
  return resource;
}
