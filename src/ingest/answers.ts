// Summarizes the traces of one request, stored and refused, per service: what the ingestion log counts.

import { type IngestionAnswer, rejectionOf } from "../model/ingestion.ts";
import type { Refusal } from "../model/refusal.ts";
import { storable } from "../model/trace/storable.ts";

type StoredGroup = { serviceName: string | null; agentId: string; spanCount: number };
type RefusedGroup = { serviceName: string | null; refusal: Refusal };

/**
 * One answer per service name. A service without refusals is OK whatever happened to the others; one with refusals is
 * PARTIAL as long as the request stored anything, like the HTTP answer.
 */
export function answersOf(
  stored: StoredGroup[],
  refused: RefusedGroup[],
  requestId: string,
): IngestionAnswer[] {
  const answers = new Map<string | null, IngestionAnswer>();
  for (const { agentId, spanCount: spans, serviceName: sent } of stored) {
    const serviceName = sent && storable(sent);
    const answer = answers.get(serviceName);
    if (answer) answer.spans += spans;
    else answers.set(serviceName, { code: "OK", serviceName, agentId, spans, reasons: {}, rejection: null });
  }
  for (const { refusal, serviceName: sent } of refused) {
    const serviceName = sent && storable(sent);
    let answer = answers.get(serviceName);
    if (!answer) {
      const agentId = refusal.agentId ?? null;
      answer = { code: refusal.code, serviceName, agentId, spans: 0, reasons: {}, rejection: null };
      answers.set(serviceName, answer);
    }
    answer.rejection ??= rejectionOf(refusal, requestId);
    if (stored.length === 0) continue;
    answer.code = "PARTIAL";
    answer.reasons[refusal.code] = (answer.reasons[refusal.code] ?? 0) + 1;
  }
  return [...answers.values()];
}
