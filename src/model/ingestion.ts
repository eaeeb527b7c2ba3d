// Results of ingestion requests, counted for the project's owners. Payloads are never kept.
import type { Refusal } from "./refusal.ts";
import { type RefusalCode, refusals } from "./refusals.ts";

/** The result of a request with a valid key. PARTIAL: some traces were stored, others refused. */
export type IngestionCode = "OK" | "PARTIAL" | RefusalCode;

export const ingestionCodes: IngestionCode[] = ["OK", "PARTIAL", ...(Object.keys(refusals) as RefusalCode[])];

/** The result of a request for one of the services it names, or for the whole request if it was refused before. */
export type IngestionAnswer = {
  code: IngestionCode;
  /** Shortened by `storable`; null on the canonical path, and if no name could be read. */
  serviceName: string | null;
  /** The agent of the stored traces, or that a refused request names; null if none is known. */
  agentId: string | null;
  /** Number of stored spans. */
  spans: number;
  /** PARTIAL: the number of refused traces, or log records, of this service by code. Otherwise empty. */
  reasons: Reasons;
  /** Log records that were kept, and those that were dropped by reason; absent for traces. */
  records?: number;
  dropped?: DroppedRecords;
  /** Null if nothing was refused. */
  rejection: Rejection | null;
};

/**
 * Why log records were dropped: their agent has no conventions, no convention reads them, their span did not arrive in time,
 * or when it did, its trace had no room for them.
 */
export const dropReasons = ["no_conventions", "no_content", "no_span", "no_room"] as const;
export type DropReason = (typeof dropReasons)[number];
export type DroppedRecords = Partial<Record<DropReason, number>>;

/** One refusal as the log keeps it. */
export type Rejection = {
  code: RefusalCode;
  /** The service's id of the request, as in its error response. */
  requestId: string;
  /** Where the request is invalid, at most `pathsMax`: fields and positions, nothing that the sender chose. */
  paths: string[];
};

export type Reasons = Partial<Record<RefusalCode, number>>;

/** The result of a request that was refused as a whole. */
export function refusedWhole(
  refusal: Refused,
  requestId: string,
  agentId: string | null = null,
): IngestionAnswer {
  const rejection = rejectionOf(refusal, requestId);
  return { code: refusal.code, serviceName: null, agentId, spans: 0, reasons: {}, rejection };
}

type Refused = Pick<Refusal, "code"> & Partial<Pick<Refusal, "issues">>;

const pathsMax = 3;

export function rejectionOf({ code, issues = [] }: Refused, requestId: string): Rejection {
  return { code, requestId, paths: issues.slice(0, pathsMax).map(({ path }) => withoutContent(path)) };
}

/** Names of fields in both formats, and of the header whose issues have a path. Other names may be a user's text. */
const fieldNames = new Set(
  `headers x-request-id spans span_id parent_span_id name start_time_unix_nano end_time_unix_nano attributes events
  metadata status code message kind links resourceSpans resource scopeSpans scope version traceId spanId parentSpanId
  traceState flags startTimeUnixNano endTimeUnixNano timeUnixNano droppedAttributesCount droppedEventsCount
  droppedLinksCount schemaUrl key value resourceLogs scopeLogs logRecords eventName observedTimeUnixNano body`.split(
    /\s+/,
  ),
);
const stepPattern = /\.?(?<name>[A-Za-z_]\w*)|\[\d{1,9}\]|\['(?<quoted>[\w-]*)'\]/y;

/** The path of an issue up to its first step that is not a field or a position. */
export function withoutContent(path: string): string {
  stepPattern.lastIndex = 0;
  for (let end = 0; end < path.length; end = stepPattern.lastIndex) {
    const step = stepPattern.exec(path);
    const name = step?.groups?.["name"] ?? step?.groups?.["quoted"];
    if (!step || (name !== undefined && !fieldNames.has(name))) return `${path.slice(0, end)}…`;
  }
  return path;
}

/** The distinct codes of refusals. */
export function refusalsOf({ code, reasons }: IngestionAnswer): RefusalCode[] {
  if (code === "OK") return [];
  return code === "PARTIAL" ? (Object.keys(reasons) as RefusalCode[]) : [code];
}
