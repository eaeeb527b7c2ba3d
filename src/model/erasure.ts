// Erasures: what they look for, their states, and the limits of their criteria.
import { externalIdsOf } from "./trace/external-ids.ts";

/** The kinds of criterion, as the API names them. */
export const criterionKinds = ["userId", "conversationId", "externalId", "traceIds", "text"] as const;
export type CriterionKind = (typeof criterionKinds)[number];

/** `values`: of `traceIds` any number of ids, else one value as it was sent and as it may be stored. */
export type Criterion = { kind: CriterionKind; values: string[] };

/** A criterion of fewer characters would be found almost everywhere. */
export const textMin = 4;
export const textMax = 1_000;
export const idMax = 2_000;
export const traceIdsMax = 1_000;

export type ErasureState = "running" | "done" | "failed";

/** Where in a trace a criterion was found. `path`: an attribute, with the fields below it. */
export type ErasurePlace = {
  spanId: string | null;
  in:
    | "trace"
    | "span"
    | "attributes"
    | "events"
    | "resource"
    | "scope"
    | "status"
    | "metadata"
    | "log"
    | "turn";
  path: string;
  /** The value with a few characters around it. */
  excerpt: string;
};

/** `1 trace`, `2 traces`. */
export function tracesOf(count: number): string {
  return `${count} ${count === 1 ? "trace" : "traces"}`;
}

/** Of more matches than a person confirmed. */
export function matchedMore(matched: number, confirmed: number): string {
  const match = matched === 1 ? "matches" : "match";
  return `${tracesOf(matched)} ${match} by now, and ${wasConfirmed(confirmed)}`;
}

/** What was erased before more traces matched than were confirmed, without a period. `records`: whether waiting log records were. */
export function erasedBefore(records: boolean): string {
  return records
    ? "No trace was erased, at most log records that waited for their span"
    : "Nothing was erased";
}

/** Of another number than a dry run found. */
export function foundOther(found: number, confirmed: number): string {
  return `The dry run found ${tracesOf(found)}, and ${wasConfirmed(confirmed)}`;
}

function wasConfirmed(confirmed: number): string {
  return `${confirmed || "none"} ${confirmed === 1 ? "was" : "were"} confirmed`;
}

/** What an erasure by an ID could not look for. */
export const pseudonymsNotSearched =
  "Not searched: pseudonyms. This server cannot decrypt the key they were made with, because SVC_SECRET_KEY has changed.";

/** The values as they are stored: a text may be an OTLP trace ID, too. */
export function storedValues(kind: CriterionKind, values: string[]): string[] {
  return kind === "externalId" || kind === "text" ? values.flatMap(externalIdsOf) : values;
}

/** Whether texts other than traces are searched for the criterion: short ids would be found almost everywhere. */
export function isSearchable({ kind, values }: Criterion): boolean {
  return kind !== "traceIds" && (values[0]?.length ?? 0) >= textMin;
}
