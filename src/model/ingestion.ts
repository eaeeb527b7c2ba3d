// Results of ingestion requests, counted for the project's owners. Payloads are never kept.
import { type RefusalCode, refusals } from "./refusal.ts";

/** The result of a request with a valid key. PARTIAL: some traces were stored, others refused. */
export type IngestionCode = "OK" | "PARTIAL" | RefusalCode;

export const ingestionCodes: IngestionCode[] = ["OK", "PARTIAL", ...(Object.keys(refusals) as RefusalCode[])];

/** The result of a request for one of the services it names, or for the whole request if it was refused before. */
export type IngestionAnswer = {
  code: IngestionCode;
  /** Shortened by `storable`; null on the canonical path, and if no name could be read. */
  serviceName: string | null;
  /** The agent of the stored traces; null if none was stored. */
  agentId: string | null;
  /** Number of stored spans. */
  spans: number;
  /** PARTIAL: the number of refused traces of this service by code. Otherwise empty. */
  reasons: Reasons;
};

export type Reasons = Partial<Record<RefusalCode, number>>;

/** The result of a request that was refused as a whole. */
export function refusedWhole(code: RefusalCode): IngestionAnswer {
  return { code, serviceName: null, agentId: null, spans: 0, reasons: {} };
}

/** The distinct codes of refusals. */
export function refusalsOf({ code, reasons }: IngestionAnswer): RefusalCode[] {
  if (code === "OK") return [];
  return code === "PARTIAL" ? (Object.keys(reasons) as RefusalCode[]) : [code];
}
