// Summarizes the log records of one request, per service: what the ingestion log counts.

import type { DroppedRecords, IngestionAnswer } from "../model/ingestion.ts";
import type { Refusal } from "../model/refusal.ts";
import { storable } from "../model/trace/storable.ts";
import { withRefusals } from "./answers.ts";

/** One answer per service name. */
export function answersOfLogs({ accepted, refused }: LogsOutcome, requestId: string): IngestionAnswer[] {
  const answers = new Map<string | null, IngestionAnswer>();
  for (const { serviceName: sent, agentId, recordCount: records, dropped } of accepted) {
    const serviceName = storable(sent);
    const nothing = { spans: 0, reasons: {}, rejection: null };
    answers.set(serviceName, { code: "OK", serviceName, agentId, ...nothing, records, dropped });
  }
  const records = refused.map(({ recordCount: count, ...one }) => ({ ...one, count }));
  return withRefusals(answers, records, requestId);
}

export type LogsOutcome = { accepted: AcceptedRecords[]; refused: RefusedRecords[] };

export type RefusedRecords = { serviceName: string | null; recordCount: number; refusal: Refusal };

export type AcceptedRecords = {
  serviceName: string;
  agentId: string;
  /** Kept for their span, repetitions included. */
  recordCount: number;
  dropped: DroppedRecords;
};
