// Conditions on runs of known traces or ids, which only the index by trace or id can serve.

/**
 * A text as SQL whose value the planner does not know. With a plain `state = 'pending'` partial indexes match, and with
 * statistics from before a backlog the planner read all waiting runs to find those of a trace (9 ms instead of 0.1 ms).
 */
export const opaque = (text: string) => `(select '${text}'::text)`;

/**
 * Whether the run is leased (SQL) and under evaluation, for statements that name runs by their ids. With a plain state, the
 * planner read all open runs instead, and for each of them all ids: half of what completing 64 runs cost.
 */
export const leasedBy = (lease: string) => `runs.lease = ${lease} and runs.state = ${opaque("running")}`;

/** Whether the trace (SQL) has a run that is not finished, other than a manual one. `offset 0` forces one lookup per row. */
export const hasOpenRun = (traceId: string) => `(
  select true from (select state, kind from runs where trace_id = ${traceId} offset 0) as other
  where other.state in ('pending', 'running') and other.kind <> 'manual' limit 1
) is not null`;

/**
 * The id of a new run of a trace (SQL): `id`, or where its last run has none below that, one a millisecond after it. The run
 * with the highest id is a trace's latest, and its runs may come from processes whose clocks differ.
 */
export const idAfterRunsOf = (traceId: string, id: string) => `coalesce((
  select (
    lpad(to_hex(('x' || left(replace(last.id::text, '-', ''), 12))::bit(48)::bigint + 1), 12, '0')
      || right(replace(${id}::text, '-', ''), 20)
  )::uuid from (select id from runs where trace_id = ${traceId} order by id desc limit 1) last
  where last.id >= ${id}
), ${id})`;

/**
 * Why there was the passive run (SQL) that completed next of the trace of `run`, an alias with `id` and `trace_id`; null if none
 * did. `among`: a further condition on `next`.
 */
export const nextCause = (run: string, among = "true") => `(
  select next.cause from runs next
  where next.trace_id = ${run}.trace_id and next.id > ${run}.id and next.kind = 'passive'
    and next.state = ${opaque("completed")} and ${among}
  order by next.id limit 1
)`;
