// Conditions on runs of known traces or ids, which only the index by trace or id can serve.

/**
 * A text as SQL whose value the planner does not know. With a plain `state = 'pending'` partial indexes match, and with
 * statistics older than a backlog the planner read all waiting runs to find those of a trace (9 ms instead of 0.1 ms).
 */
export const opaque = (text: string) => `(select '${text}'::text)`;

/** The runs of a trace of an agent (SQL) in the queue: the condition names all columns of the index by trace. */
export const queuedOf = (agentId: string, traceId: string) =>
  `queue.agent_id = ${agentId} and queue.state in ('pending', 'running') and queue.trace_id = ${traceId}`;

/** Whether the trace of this agent (SQL) has a run that has not ended, other than a manual one. */
export const hasOpenRun = (agentId: string, traceId: string) =>
  `(select true from queue where ${queuedOf(agentId, traceId)} limit 1) is not null`;

/**
 * The id of a new run of a trace (SQL): `id`, or where its last run has none below that, one a millisecond after it. The run
 * with the highest id is a trace's latest, and its runs may come from processes whose clocks differ.
 */
export const idAfterRunsOf = (agentId: string, traceId: string, id: string) => `coalesce((
  select (
    lpad(to_hex(('x' || left(replace(last.id::text, '-', ''), 12))::bit(48)::bigint + 1), 12, '0')
      || right(replace(${id}::text, '-', ''), 20)
  )::uuid from (
    (select id from runs where trace_id = ${traceId} order by id desc limit 1)
    union all select id from queue where ${queuedOf(agentId, traceId)}
  ) last
  where last.id >= ${id} order by last.id desc limit 1
), ${id})`;

/** What a queued run and the run that it becomes have in common. */
export const endedColumns = `id, agent_id, kind, due_at, created_at, started_at, launch_id, test_id, test_digest, test_row, test_repeat,
  input_digest`;

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
