// Joins waiting log records to the traces that have their span: copies them as batches, and moves or schedules runs.
import type pg from "pg";
import { partsOf } from "../cluster/routing.ts";
import { noteDeadlines } from "../content-deadlines.ts";
import { type Database, type Session, transaction } from "../db.ts";
import { newId } from "../new-id.ts";
import type { MergeLimits } from "./append.ts";
import {
  type Append,
  copy,
  deleteWaiting,
  type Locked,
  lockNamed,
  lockWaiting,
  type Open,
  openTraces,
  raiseRevisions,
  type Waiting,
} from "./join-statements.ts";
import { type NamedTrace, named } from "./otlp-ids.ts";
import { moveRuns, type Pending, scheduleFurther, withoutRun } from "./schedule.ts";
import { keysIn } from "./span-keys.ts";
import { deadlineOf } from "./update.ts";
import type { SentRecords } from "./waiting-records.ts";

/** A trace that got log records. `scheduled`: it has a pending run now. */
export type JoinedTrace = { agentId: string; traceId: string; scheduled: boolean };

/** `refused`: the waiting rows that did not fit into their trace. They are deleted. */
export type JoinOutcome = { joined: JoinedTrace[]; refused: (SentRecords & { id: string })[] };

export type JoinLimits = MergeLimits & {
  /** Brings the columns of these traces up to date, if it can; absent: traces are compared with the columns that are stored. */
  derive?: ((traceIds: string[]) => Promise<void>) | undefined;
};

/** Whether these traces get a run depends on columns that are behind. Thrown to roll back. */
class StaleColumns extends Error {
  readonly traceIds: string[];

  constructor(traceIds: string[]) {
    super("Columns of traces are behind their batches.");
    this.traceIds = traceIds;
  }
}

const tracesAtOnce = 128;
// A trace may change while its columns are derived.
const derivationsMax = 2;

/**
 * Call it after the commit of records, and after the commit of spans whose agent has conventions: whichever of the two is
 * committed last finds the other. Records whose span is not stored stay as they are.
 */
export async function joinWaiting(
  db: Database,
  traces: NamedTrace[],
  limits: JoinLimits,
): Promise<JoinOutcome> {
  const distinct = new Map(traces.map(trace => [`${trace.agentId} ${trace.otlpTraceId}`, trace]));
  const outcome: JoinOutcome = { joined: [], refused: [] };
  for (const [place, part] of await partsOf(db, [...distinct.values()])) {
    const { joined, refused } = await joinIn(place, part, limits);
    outcome.joined.push(...joined);
    outcome.refused.push(...refused);
  }
  return outcome;
}

async function joinIn(db: Database, asked: NamedTrace[], limits: JoinLimits): Promise<JoinOutcome> {
  const outcome: JoinOutcome = { joined: [], refused: [] };
  for (let at = 0; at < asked.length; at += tracesAtOnce) {
    const expected = await listWaiting(db.pool, asked.slice(at, at + tracesAtOnce));
    if (expected.length === 0) continue;
    const { joined, refused } = await joinDerived(db, expected, limits);
    outcome.joined.push(...joined);
    outcome.refused.push(...refused);
  }
  return outcome;
}

/** Columns are derived only if a run depends on them: almost always one is pending, or they are up to date. */
async function joinDerived(
  db: Database,
  expected: NamedTrace[],
  { derive, ...limits }: JoinLimits,
): Promise<JoinOutcome> {
  for (let left = derive ? derivationsMax : 0; ; left--) {
    try {
      return await transaction(db, client => join(client, expected, limits, left === 0));
    } catch (error) {
      if (!(error instanceof StaleColumns)) throw error;
      await derive!(error.traceIds);
    }
  }
}

/** Those of the traces for which records wait. Almost always none: an index that is nearly empty. */
async function listWaiting(pool: Session, traces: NamedTrace[]): Promise<NamedTrace[]> {
  const { rows } = await pool.query<NamedTrace>({
    name: "list_waiting",
    text: `select distinct agent_id as "agentId", otlp_trace_id as "otlpTraceId" from waiting_records
      where (agent_id, otlp_trace_id) in (select * from ${named(1).from})`,
    values: named(1).values(traces),
  });
  return rows;
}

async function join(
  client: pg.PoolClient,
  expected: NamedTrace[],
  limits: MergeLimits,
  mayBeStale: boolean,
): Promise<JoinOutcome> {
  const locked = await lockNamed(client, expected);
  if (locked.length === 0) return { joined: [], refused: [] };
  const waiting = await lockWaiting(client, locked);
  const open = await openTraces(client, locked);
  const appends: Append[] = [];
  const done: Waiting[] = [];
  const touched = new Set<Open>();
  const awaiting = new Set<Open>();
  const refused: JoinOutcome["refused"] = [];
  for (const item of waiting) {
    const span = item.span_key.toString("latin1");
    const traces = locked
      .filter(one => one.agent_id === item.agent_id && one.otlp_trace_id === item.otlp_trace_id)
      .map(one => open.get(one.id)!);
    const targets = traces.filter(one => one.spans.has(span));
    if (targets.length === 0) {
      for (const one of traces) awaiting.add(one);
      continue;
    }
    done.push(item);
    const kept = targets.filter(target => add(target, item, limits, appends));
    for (const target of kept) touched.add(target);
    if (kept.length < targets.length) refused.push(sentRecords(item, targets[0]!.trace));
  }
  await copy(client, appends);
  await deleteWaiting(client, done);
  const grown = [...touched].filter(({ changed }) => changed).map(({ trace }) => trace);
  await raiseRevisions(client, grown);
  await noteDeadlines(client, grown.flatMap(deadlineOf));
  // Records whose span has not arrived are a batch of their trace, too.
  const accepted = Array.from(touched.union(awaiting), ({ trace: { id, agent_id: agentId } }) => ({
    ...{ traceId: id, agentId },
  }));
  const pending = await moveRuns(client, accepted, limits);
  if (!mayBeStale) await requireDerived(client, [...touched], pending);
  return { joined: await schedule(client, [...touched], pending, limits), refused };
}

function sentRecords(
  { id, agent_id, key_id, record_keys }: Waiting,
  { project_id, otlp_service_name }: Locked,
): JoinOutcome["refused"][number] {
  const by = { agentId: agent_id, projectId: project_id, keyId: key_id, serviceName: otlp_service_name };
  return { id, ...by, records: record_keys.length / 8 };
}

/** Adds the records to the trace unless it has them; false if they do not fit. */
function add(target: Open, item: Waiting, limits: MergeLimits, appends: Append[]): boolean {
  const { trace, records } = target;
  const added = [...keysIn(item.record_keys)].filter(key => !records.has(key));
  // Of a trace whose content was dropped, records would bring it back.
  if (added.length === 0 || trace.is_forgotten) return true;
  const fits =
    trace.batch_bytes + item.raw_length <= limits.traceBytesMax &&
    records.size + added.length <= limits.traceSpansMax;
  if (!fits) return false;
  for (const key of added) records.add(key);
  trace.batch_bytes += item.raw_length;
  trace.batch_count++;
  target.added ||= item.has_input || item.has_reply || item.tools.length > 0;
  target.brings ||=
    (item.has_input && !trace.has_input) ||
    (item.has_reply && !trace.has_reply) ||
    item.tools.some(tool => !trace.tools.includes(tool));
  if (!target.changed) trace.revision++;
  target.changed = true;
  appends.push({ traceId: trace.id, seq: trace.batch_count, waiting: item });
  return true;
}

/** Throws StaleColumns. */
async function requireDerived(client: pg.PoolClient, touched: Open[], pending: Pending): Promise<void> {
  const stale = touched.filter(({ trace, added }) => added && trace.is_stale && trace.kind === "live");
  const open = await withoutRun(
    client,
    stale.map(({ trace }) => ({ traceId: trace.id, agentId: trace.agent_id })),
    pending,
  );
  if (open.length > 0) throw new StaleColumns(open.map(({ traceId }) => traceId));
}

/** Records move a pending run, also repeated ones. Where none is pending, they schedule one if they bring what was lacking. */
async function schedule(
  client: pg.PoolClient,
  touched: Open[],
  pending: Pending,
  limits: MergeLimits,
): Promise<JoinedTrace[]> {
  const further = touched
    .filter(({ trace, brings }) => brings && trace.kind === "live")
    .map(({ trace }) => ({ runId: newId(), traceId: trace.id, agentId: trace.agent_id }));
  const scheduled = new Set([
    ...pending.keys(),
    ...(await scheduleFurther(client, further, pending, limits)),
  ]);
  return touched.map(({ trace: { id, agent_id: agentId } }) => ({
    agentId,
    traceId: id,
    scheduled: scheduled.has(id),
  }));
}
