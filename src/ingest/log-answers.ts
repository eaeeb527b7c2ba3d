// Summarizes the log records of one request, per service: what the ingestion log counts.
import { type IngestionAnswer, rejectionOf } from "../model/ingestion.ts";
import { storable } from "../model/trace/storable.ts";
import type { LogsOutcome } from "./logs.ts";

/** One answer per service name. */
export function answersOfLogs({ accepted, refused }: LogsOutcome, requestId: string): IngestionAnswer[] {
  const answers = new Map<string | null, IngestionAnswer>();
  for (const { serviceName: sent, agentId, recordCount: records, dropped } of accepted) {
    const serviceName = storable(sent);
    const nothing = { spans: 0, reasons: {}, rejection: null };
    answers.set(serviceName, { code: "OK", serviceName, agentId, ...nothing, records, dropped });
  }
  for (const { serviceName: sent, recordCount, refusal } of refused) {
    const serviceName = sent && storable(sent);
    let answer = answers.get(serviceName);
    if (!answer) {
      const agentId = refusal.agentId ?? null;
      answer = { code: refusal.code, serviceName, agentId, spans: 0, reasons: {}, rejection: null };
      answers.set(serviceName, answer);
    }
    answer.rejection ??= rejectionOf(refusal, requestId);
    if (accepted.length === 0) continue;
    answer.code = "PARTIAL";
    answer.reasons[refusal.code] = (answer.reasons[refusal.code] ?? 0) + recordCount;
  }
  return [...answers.values()];
}
