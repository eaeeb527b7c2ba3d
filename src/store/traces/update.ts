// Stores batches of existing traces: merges OTLP, replaces canonical, and reschedules their runs.
import type pg from "pg";
import { Refusal } from "../../model/refusal.ts";
import { type Deadline, noteDeadlines } from "../content-deadlines.ts";
import { type Database, transaction } from "../db.ts";
import { multiRow } from "../parameters/multi-row.ts";
import { type Append, admit, appendAll, fits, type MergeLimits } from "./append.ts";
import { replaceCalls } from "./call-values.ts";
import {
  conventionsOf,
  derivedAssignments,
  derivedColumns,
  hasOtherConventions,
  keepsNames,
} from "./derived-columns.ts";
import { liveKeys, revoked } from "./live-keys.ts";
import { findGone, identity, type LockedTrace, lockTraces } from "./locked-traces.ts";
import { countRedactions } from "./redactions.ts";
import { findRepeated } from "./repetition.ts";
import { moveRuns } from "./schedule.ts";
import { fitsSettings, IntakeChanged, type Stored, type TraceWrite, type WriteOutcome } from "./write.ts";

/**
 * Writes to stored traces, in order, in one transaction that locks them in the order of their ids, so that two of these
 * never deadlock. Of a trace whose retention time is over nothing is stored, as of a repetition. An outcome is `undefined` if
 * the trace was deleted, a Refusal if the key ended or the trace would grow too large, IntakeChanged if what may be stored
 * changed.
 */
export function updateTraces(
  db: Database,
  writes: TraceWrite[],
  limits: MergeLimits,
): Promise<WriteOutcome[]> {
  return transaction(db, async client => {
    const live = await liveKeys(client, writes);
    const traces = await lockTraces(client, writes);
    const gone = await findGone(client, writes, traces);
    const repeated = await findRepetitions(client, writes, traces);
    const changed = new Set<LockedTrace>();
    const appends: Append[] = [];
    const outcomes: WriteOutcome[] = [];
    for (const write of writes) {
      const trace = traces.get(identity(write.agentId, write.externalId));
      if (write.keyId !== null && !live.has(write.keyId)) outcomes.push(revoked());
      else if (!trace) outcomes.push(gone.get(identity(write.agentId, write.externalId)));
      else if (trace.id === write.traceId) outcomes.push(await storedBefore(client, write, trace));
      else if (!fitsSettings(write, trace)) outcomes.push(new IntakeChanged(false));
      else if (trace.is_forgotten && write.content !== "forgotten") outcomes.push(new IntakeChanged(true));
      else if (repeated.has(write) && !changed.has(trace)) {
        outcomes.push(await leave(client, write, trace, limits));
      } else if (write.path === "canonical") {
        changed.add(trace);
        await appendAll(client, appends.splice(0), limits);
        outcomes.push(await replace(client, write, trace));
      } else {
        // Near the limit, batches that are not appended yet must count too.
        if (!fits(write, trace, limits)) await appendAll(client, appends.splice(0), limits);
        const append = await admit(client, write, trace, limits);
        if (!(append instanceof Refusal)) {
          appends.push(append);
          changed.add(trace);
        }
        outcomes.push(append instanceof Refusal ? append : append.outcome);
      }
    }
    await appendAll(client, appends, limits);
    await noteDeadlines(client, [...changed].flatMap(deadlineOf));
    return outcomes;
  });
}

/** Of a trace that is to be forgotten; one that was stays as it is. */
export function deadlineOf(
  trace: Pick<LockedTrace, "id" | "agent_id" | "is_forgotten" | "forget_after_s">,
): Deadline[] {
  const { id: subjectId, agent_id: agentId, is_forgotten, forget_after_s: afterSeconds } = trace;
  return is_forgotten || afterSeconds === null ? [] : [{ agentId, subjectId, afterSeconds }];
}

/** The writes that change nothing: a batch of a merged trace, or a whole canonical trace, sent again. */
async function findRepetitions(
  client: pg.PoolClient,
  writes: TraceWrite[],
  traces: Map<string, LockedTrace>,
): Promise<Set<TraceWrite>> {
  const candidates = writes.flatMap(write => {
    const trace = traces.get(identity(write.agentId, write.externalId));
    return trace?.path === write.path && (write.path === "otlp" || trace.batch_count === 1)
      ? [{ write, trace }]
      : [];
  });
  return candidates.length > 0 ? findRepeated(client, candidates) : new Set();
}

/** A repetition stores nothing, but like any accepted batch it moves a pending run. */
async function leave(
  client: pg.PoolClient,
  write: TraceWrite,
  trace: LockedTrace,
  limits: MergeLimits,
): Promise<Stored> {
  const { id: traceId, revision } = trace;
  if (write.path === "canonical") return { traceId, state: "replaced", revision, evaluation: "none" };
  await client.query("update traces set updated_at = now() where id = $1", [traceId]);
  const moved = await moveRuns(client, [{ traceId, agentId: write.agentId }], limits);
  return { traceId, state: "merged", revision, evaluation: moved.has(traceId) ? "scheduled" : "none" };
}

/** This write was committed before but its answer was lost: the outcome is what it did then. */
async function storedBefore(
  client: pg.PoolClient,
  write: TraceWrite,
  { kind }: LockedTrace,
): Promise<Stored> {
  const { rowCount } = await client.query(
    "select id from runs where id = $1 union all select id from queue where id = $1",
    [write.runId],
  );
  return {
    traceId: write.traceId,
    state: "created",
    revision: 1,
    evaluation: rowCount ? "scheduled" : "none",
    ...(kind === "test_run" && { isTestRun: true }),
  };
}

const derived = multiRow<TraceWrite>(6, derivedColumns);

async function replace(client: pg.PoolClient, write: TraceWrite, trace: LockedTrace): Promise<Stored> {
  await client.query("delete from trace_batches where trace_id = $1", [trace.id]);
  const { rows } = await client.query<{ keeps: boolean }>({
    name: "replace_trace",
    text: `update traces set path = 'canonical', revision = traces.revision + 1, updated_at = now(), batch_count = 1,
        batch_spans = $2, batch_bytes = $3, content = $5::text, ${derivedAssignments},
        derived_revision = case
          when $5::text is distinct from 'forgotten'
            and (traces.kind = 'test_run' or ${hasOtherConventions("traces.agent_id", "$4")}) then 0
          else traces.revision + 1 end
      from ${derived.from}, traces old
      where traces.id = $1 and old.id = traces.id
      returning ${keepsNames} as keeps`,
    values: [
      trace.id,
      write.spanCount,
      write.rawLength,
      conventionsOf(write),
      write.content ?? null,
      ...derived.values([write]),
    ],
  });
  const { keeps } = rows[0]!;
  await replaceCalls(client, [{ agentId: trace.agent_id, traceId: trace.id, columns: write.columns, keeps }]);
  const { rawLength, spanKeys, bytes } = write;
  await client.query(
    `insert into trace_batches (agent_id, trace_id, seq, raw_length, span_keys, spans)
      values ($1, $2, 1, $3, $4, $5)`,
    [trace.agent_id, trace.id, rawLength, spanKeys, bytes],
  );
  await countRedactions(client, [write]);
  trace.path = "canonical";
  trace.revision++;
  trace.batch_count = 1;
  trace.batch_spans = write.spanCount;
  trace.batch_bytes = write.rawLength;
  return { traceId: trace.id, state: "replaced", revision: trace.revision, evaluation: "none" };
}
