// From the traces of one request, stored and refused, to its answer for each service: what the ingestion log counts.

import type { IngestionAnswer } from "../model/ingestion.ts";
import type { RefusalCode } from "../model/refusal.ts";
import { storable } from "../model/trace/columns.ts";

type StoredGroup = { serviceName: string | null; agentId: string; spanCount: number };
type RefusedGroup = { serviceName: string | null; refusal: { code: RefusalCode } };

/**
 * One answer for each service name. A service of which nothing was refused is OK whatever became of the others; one
 * of which something was refused is PARTIAL as long as the request stored anything, as it was answered.
 */
export function answersOf(stored: StoredGroup[], refused: RefusedGroup[]): IngestionAnswer[] {
  const answers = new Map<string | null, IngestionAnswer>();
  for (const { agentId, spanCount: spans, serviceName: sent } of stored) {
    const serviceName = sent && storable(sent);
    const answer = answers.get(serviceName);
    if (answer) answer.spans += spans;
    else answers.set(serviceName, { code: "OK", serviceName, agentId, spans, reasons: {} });
  }
  for (const { refusal, serviceName: sent } of refused) {
    const serviceName = sent && storable(sent);
    let answer = answers.get(serviceName);
    if (!answer) {
      answer = { code: refusal.code, serviceName, agentId: null, spans: 0, reasons: {} };
      answers.set(serviceName, answer);
    }
    if (stored.length === 0) continue;
    answer.code = "PARTIAL";
    answer.reasons[refusal.code] = (answer.reasons[refusal.code] ?? 0) + 1;
  }
  return [...answers.values()];
}
