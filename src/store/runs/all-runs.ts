// Reads runs wherever they are: in the table of runs once they have ended, until then in the queue.

/** A condition on a run: `row` is an alias of `runs`, or of `queue` if it has not ended. May end with an order and a limit. */
type Of = (row: string, hasEnded: boolean) => string;

const common = (row: string) =>
  [
    "id",
    "trace_id",
    "agent_id",
    "kind",
    "due_at",
    "created_at",
    "started_at",
    "cause",
    "launch_id",
    "test_id",
  ]
    .concat(["test_digest", "test_row", "test_repeat", "input_digest"])
    .map(column => `${row}.${column}`)
    .join(", ");

const results = [
  ...["finished_at timestamptz", "revision integer", "routing text", "verdict text", "score float8"],
  ...["passed integer", "failed integer", "skipped integer", "missing_instrumentation integer"],
  ...[
    "test_ids uuid[]",
    "failed_test_ids uuid[]",
    "test_outcomes text",
    "test_versions integer[]",
    "error text",
  ],
].map(column => column.split(" ") as [name: string, type: string]);

/**
 * As SQL: runs that have ended. A manual run that is evaluated again keeps its results meanwhile; only such a run is looked for
 * in the queue.
 */
export const endedRuns = (of: Of) => `(
  select ${common("e")}, ${results.map(([name]) => `e.${name}`).join(", ")}, e.detail, e.outage_open, e.fully_evaluated,
    case when a.id is null then e.state else 'running' end as state, coalesce(a.attempts, e.attempts) as attempts,
    a.next_try_at, a.judge_deadline_at, a.waiting_reason
  from runs e left join queue a on a.id = case e.kind when 'manual' then e.id end and a.agent_id = e.agent_id
  where ${of("e", true)}
)`;

/** As SQL: runs that have not ended, with the same columns. */
export const openRuns = (of: Of) => `(
  select ${common("o")}, ${results.map(([name, type]) => `null::${type} as ${name}`).join(", ")}, o.detail, false as outage_open,
    true as fully_evaluated, o.state, o.attempts, o.next_try_at, o.judge_deadline_at, o.waiting_reason
  from queue o where (o.kind = 'passive' or o.cause = 'traffic') and ${of("o", false)}
)`;

/** As SQL: runs of both kinds. */
export const allRuns = (of: Of) => `(${endedRuns(of)} union all ${openRuns(of)})`;

/** As SQL: all runs of a launch (SQL) with the columns that are counted. */
export const runsOfLaunch = (launchId: string) => `(
  select id, agent_id, launch_id, test_id, test_row, input_digest, state, verdict, fully_evaluated, outage_open
  from runs where launch_id = ${launchId}
  union all select id, agent_id, launch_id, test_id, test_row, input_digest, state, null, true, false
  from queue where launch_id = ${launchId} and cause = 'traffic'
)`;

/** As SQL: the ids and agents of runs, with a condition on columns that `runs` and `queue` have. */
export const idsOfRuns = (where: string) =>
  `(select id, agent_id from runs where ${where} union select id, agent_id from queue where ${where})`;
