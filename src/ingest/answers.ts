// Summarizes the traces of one request, stored and refused, per service: what the ingestion log counts.

import { type IngestionAnswer, rejectionOf } from "../model/ingestion.ts";
import type { Refusal } from "../model/refusal.ts";
import { storable } from "../model/trace/storable.ts";

type StoredGroup = { serviceName: string | null; agentId: string; spanCount: number };
/** `count`: how many traces or log records were refused. */
type RefusedGroup = { serviceName: string | null; refusal: Refusal; count: number };

/**
 * One answer per service name. A service without refusals is OK whatever happened to the others; one with refusals is
 * PARTIAL as long as the request stored anything, like the HTTP answer.
 */
export function answersOf(
  stored: StoredGroup[],
  refused: Omit<RefusedGroup, "count">[],
  requestId: string,
): IngestionAnswer[] {
  const answers = new Map<string | null, IngestionAnswer>();
  for (const { agentId, spanCount: spans, serviceName: sent } of stored) {
    const serviceName = sent && storable(sent);
    const answer = answers.get(serviceName);
    if (answer) answer.spans += spans;
    else answers.set(serviceName, { code: "OK", serviceName, agentId, spans, reasons: {}, rejection: null });
  }
  const traces = refused.map(one => ({ ...one, count: 1 }));
  return withRefusals(answers, traces, requestId);
}

/** The answers to what was stored, and by service name to what was refused. */
export function withRefusals(
  answers: Map<string | null, IngestionAnswer>,
  refused: RefusedGroup[],
  requestId: string,
): IngestionAnswer[] {
  const isPartial = answers.size > 0;
  for (const { refusal, serviceName: sent, count } of refused) {
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
    answer.reasons[refusal.code] = (answer.reasons[refusal.code] ?? 0) + count;
  }
  return [...answers.values()];
}
