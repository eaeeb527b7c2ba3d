// How ingestion requests ended, as it is counted for the people who own the project: never what was in them.
import { type RefusalCode, refusals } from "./refusal.ts";

/** What a request with a valid key is answered with; PARTIAL stored some of its traces and refused others. */
export type IngestionCode = "OK" | "PARTIAL" | RefusalCode;

export const ingestionCodes: IngestionCode[] = ["OK", "PARTIAL", ...(Object.keys(refusals) as RefusalCode[])];

/** How one request ended for one of the services it names, or as a whole where it was refused before that is known. */
export type IngestionAnswer = {
  code: IngestionCode;
  /** Storable, and so shortened; null on the canonical path, and where none could be read. */
  serviceName: string | null;
  /** Whose the stored traces are; null where none was stored. */
  agentId: string | null;
  /** Spans stored. */
  spans: number;
  /** PARTIAL: how many traces of this service each code refused. Otherwise empty. */
  reasons: Reasons;
};

export type Reasons = Partial<Record<RefusalCode, number>>;

/** The whole request, refused. */
export function refusedWhole(code: RefusalCode): IngestionAnswer {
  return { code, serviceName: null, agentId: null, spans: 0, reasons: {} };
}

/** The codes that refused something, each once. */
export function refusalsOf({ code, reasons }: IngestionAnswer): RefusalCode[] {
  if (code === "OK") return [];
  return code === "PARTIAL" ? (Object.keys(reasons) as RefusalCode[]) : [code];
}
