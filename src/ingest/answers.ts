// Summarizes what one request brought, stored and refused, per service: what the ingestion log counts.

import { type DroppedRecords, type IngestionAnswer, rejectionOf } from "../model/ingestion.ts";
import type { Refusal } from "../model/refusal.ts";
import { storable } from "../model/trace/storable.ts";

/** A trace, or the log records of a service that were kept for their spans, repetitions included. */
type Accepted = { serviceName: string | null; agentId: string } & (
  | { spanCount: number }
  | { recordCount: number; dropped: DroppedRecords }
);
/** A trace, or as many log records. */
type Refused = { serviceName: string | null; refusal: Refusal; recordCount?: number };

/**
 * One answer per service name. A service without refusals is OK whatever happened to the others; one with refusals is
 * PARTIAL as long as the request stored anything, like the HTTP answer.
 */
export function answersOf(accepted: Accepted[], refused: Refused[], requestId: string): IngestionAnswer[] {
  const answers = new Map<string | null, IngestionAnswer>();
  for (const { agentId, serviceName: sent, ...one } of accepted) {
    const serviceName = sent && storable(sent);
    const spans = "spanCount" in one ? one.spanCount : 0;
    const records = "recordCount" in one && { records: one.recordCount, dropped: one.dropped };
    const answer = answers.get(serviceName);
    if (answer) answer.spans += spans;
    else {
      const nothing = { reasons: {}, rejection: null };
      answers.set(serviceName, { code: "OK", serviceName, agentId, spans, ...nothing, ...records });
    }
  }
  const isPartial = answers.size > 0;
  for (const { refusal, serviceName: sent, recordCount = 1 } of refused) {
    const serviceName = sent && storable(sent);
    let answer = answers.get(serviceName);
    if (!answer) {
      const agentId = refusal.agentId ?? null;
      answer = { code: refusal.code, serviceName, agentId, spans: 0, reasons: {}, rejection: null };
      answers.set(serviceName, answer);
    }
    answer.rejection ??= rejectionOf(refusal, requestId);
    if (!isPartial) continue;
    answer.code = "PARTIAL";
    answer.reasons[refusal.code] = (answer.reasons[refusal.code] ?? 0) + recordCount;
  }
  return [...answers.values()];
}
