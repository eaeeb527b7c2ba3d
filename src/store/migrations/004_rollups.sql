-- Counts by the hour, kept by the transactions that complete runs; and what lists need to find the rare.

-- An hour is that of the run's creation: the traffic's own, however late it was judged. Runs are counted, not
-- traces: a trace that is judged again counts again. The rows of the present hour are written again and again:
-- half of each page is left free for that.
create table agent_hours (
  agent_id uuid not null references agents on delete cascade,
  hour timestamptz not null,
  -- By their verdicts; a run without one, because no test applied, is in `runs` alone.
  runs integer not null,
  passed integer not null,
  failed integer not null,
  skipped integer not null,
  missing_instrumentation integer not null,
  routing_unavailable integer not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  -- How many durations fell into each bucket of model/histogram.ts.
  durations integer[] not null,
  primary key (agent_id, hour)
) with (fillfactor = 50);

create table test_hours (
  test_id uuid not null references test_cases on delete cascade,
  hour timestamptz not null,
  passed integer not null,
  failed integer not null,
  skipped integer not null,
  missing_instrumentation integer not null,
  last_run_at timestamptz not null,
  last_outcome text not null,
  primary key (test_id, hour)
) with (fillfactor = 50);

-- `check_id` is the id of the assertion.
create table check_hours (
  test_id uuid not null references test_cases on delete cascade,
  check_id text not null,
  hour timestamptz not null,
  passed integer not null,
  failed integer not null,
  skipped integer not null,
  missing_instrumentation integer not null,
  primary key (test_id, check_id, hour)
) with (fillfactor = 50);

create function add_each(one integer[], other integer[]) returns integer[] language sql immutable parallel safe
return array(
  select coalesce(a, 0) + coalesce(b, 0) from unnest(one, other) with ordinality as pair (a, b, place) order by place
);

-- Of the rare, so that the common pays nothing: most traces are in none of these.
create index traces_failed on traces (agent_id, id desc) where failed;
create index traces_http_status on traces (agent_id, http_status, id desc) where http_status <> 200;
create index traces_test_runs on traces (agent_id, id desc) where kind = 'test_run';
-- In the order of lists, which is that of traces.
create index runs_verdict on runs (agent_id, verdict, trace_id desc) where state = 'completed';
create index runs_routing on runs (agent_id, routing, trace_id desc)
  where state = 'completed' and routing in ('no_user_input', 'unavailable');
create index runs_open on runs (agent_id, state, trace_id desc) where state <> 'completed';
