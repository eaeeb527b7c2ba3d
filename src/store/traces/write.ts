// What is to be stored of a trace, and what became of it.

import type { Refusal } from "../../model/refusal.ts";
import type { TraceColumns } from "../../model/trace/columns.ts";
import type { TracePath } from "../../model/trace/trace.ts";

/** One batch of one trace, ready to be stored. */
export type TraceWrite = {
  /** The id the trace gets if it is new. */
  traceId: string;
  /** The id its run gets if one is scheduled. */
  runId: string;
  /** Null where it came without a key: nothing of it can be revoked meanwhile. */
  keyId: string | null;
  agentId: string;
  externalId: string;
  path: TracePath;
  spanCount: number;
  /** Eight bytes for each distinct span id, by which a batch that adds a span is told from a repetition. */
  spanKeys: Buffer;
  /** The batch at rest, and its size before compression in bytes. */
  bytes: Buffer;
  rawLength: number;
  /** Derived from this batch alone. */
  columns: TraceColumns;
};

export type Stored = {
  traceId: string;
  state: "created" | "replaced" | "merged";
  revision: number;
  evaluation: "scheduled" | "none";
};

/** What became of one write inside a statement; `undefined` where this statement does not apply to it. */
export type WriteOutcome = Stored | Refusal | undefined;
