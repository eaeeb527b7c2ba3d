// Types of a trace to be stored, and of the outcome.

import type { ReadBy } from "../../model/agent/read-by.ts";
import type { Intake } from "../../model/content.ts";
import type { RuleCounts } from "../../model/redaction.ts";
import type { Refusal } from "../../model/refusal.ts";
import type { ContentGone, TracePath } from "../../model/trace/trace.ts";
import type { TraceColumns } from "../../reading/derived/columns.ts";
import type { Owners } from "../../threads/fair-queue.ts";
import { intakeKey } from "../accounts/intake-key.ts";

/** One batch of one trace, ready to be stored. */
export type TraceWrite = {
  /** The id of the trace if it is new. */
  traceId: string;
  /** The id of its run if one is scheduled. */
  runId: string;
  /** Null for sample traces, which have no key that could be revoked. */
  keyId: string | null;
  /** Whose turn it is among waiting writes: the account and its key. Absent: nobody's. */
  owners?: Owners | undefined;
  agentId: string;
  externalId: string;
  /** The OTLP trace id, if the trace has another identity. */
  otlpTraceId?: string | undefined;
  path: TracePath;
  spanCount: number;
  /** Eight bytes for each distinct span id: shows whether a batch adds a span. */
  spanKeys: Buffer;
  /** The compressed batch. `rawLength`: bytes before compression, including those of `resource`. */
  bytes: Buffer;
  rawLength: number;
  /** The batch's resource, if it is stored apart. */
  resource?: SharedResource | undefined;
  /** Derived from this batch alone, read by these rules and conventions; absent: by none. */
  columns: TraceColumns;
  readBy?: ReadBy | undefined;
  /** The agent may have conventions although `readBy` has none, so log records may wait for the spans. */
  mayHaveRecords?: boolean | undefined;
  /** The settings by which the batch was changed before; absent: it is as it arrived. */
  intake?: Intake | undefined;
  /** Set where it is without content. */
  content?: ContentGone | undefined;
  /** What was redacted in the batch, which says so, too; absent: nothing. */
  redactions?: RuleCounts | undefined;
  /** The revision of the privacy settings that it was redacted by; absent for what no customer sent. */
  privacyRevision?: number | undefined;
};

/** Whether the batch was prepared by the settings that its agent has now. */
export function fitsSettings(
  { intake, privacyRevision }: TraceWrite,
  agent: { intake_key: string; privacy_revision: number },
): boolean {
  const isRedacted = privacyRevision === undefined || privacyRevision === agent.privacy_revision;
  return isRedacted && agent.intake_key === intakeKey(intake);
}

/** Nothing was stored: the batch must be changed by other settings first. */
export class IntakeChanged extends Error {
  /** Whether the content of its trace was dropped; else the settings of the agent or its project are others than the batch's. */
  readonly isForgotten: boolean;

  constructor(isForgotten: boolean) {
    super("What may be stored of the agent's traces changed meanwhile.");
    this.isForgotten = isForgotten;
  }
}

/** A resource that several traces of one agent share. */
export type SharedResource = {
  /** A UUID as PostgreSQL prints it, the same for the same resource of the same agent. */
  id: string;
  /** Compressed. */
  bytes: Buffer;
};

export type Stored = {
  traceId: string;
  state: "created" | "replaced" | "merged";
  revision: number;
  evaluation: "scheduled" | "none";
  /** The trace was deleted when its retention time was over, so nothing was stored. */
  isExpired?: true;
  /** The trace was created for a manual run, which evaluates it. */
  isTestRun?: true;
};

/** The outcome of one write in a statement; `undefined` if the statement does not apply to it. */
export type WriteOutcome = Stored | Refusal | IntakeChanged | undefined;
