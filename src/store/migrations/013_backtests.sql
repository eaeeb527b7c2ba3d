-- Backtests: a test case tried on past traces in the background. And the results of tests, counted by version.

-- While it runs, its process extends the lease; one whose lease has expired was interrupted.
create table backtests (
  id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  -- The saved test whose results it is compared with; null: the test is not saved.
  test_id uuid references test_cases on delete cascade,
  -- The document that was tried, as JSON, and the saved version that it equals; null: a draft.
  test text not null,
  test_version integer,
  created_at timestamptz not null default now(),
  -- Whether the user confirmed the cost of the judge.
  judged boolean not null,
  state text not null check (state in ('running', 'completed', 'cancelled', 'interrupted', 'error')),
  lease_until timestamptz not null,
  finished_at timestamptz,
  error text,
  calls integer not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_usd double precision not null default 0,
  -- Tokens of calls whose price is not known; `cost_usd` excludes them.
  unpriced_tokens bigint not null default 0
);
create index backtests_newest on backtests (agent_id, id desc);
create unique index backtests_one_running on backtests (agent_id) where state = 'running';
create index backtests_test on backtests (test_id) where test_id is not null;

-- One row per trace, inserted when the backtest starts; `change` is null until the trace was tried.
create table backtest_results (
  backtest_id uuid not null references backtests on delete cascade,
  trace_id uuid not null,
  -- Outcomes: of the latest stored result, and now. Null: none.
  before text,
  before_version integer,
  after text,
  change text check (change in ('broke', 'fixed', 'changed', 'new', 'same', 'none')),
  reason text,
  check_id text,
  check_type text,
  primary key (backtest_id, trace_id)
);
create index backtest_results_trace on backtest_results (trace_id);

-- They quote the trace, so they are deleted with it.
create function delete_backtest_results() returns trigger language plpgsql as $$
begin
  delete from backtest_results using gone where backtest_results.trace_id = gone.id;
  return null;
end
$$;
create trigger traces_deleted_backtests after delete on traces referencing old table as gone
  for each statement execute function delete_backtest_results();

-- Results of live traffic by version of the test, counted like test_hours.
create table test_versions (
  test_id uuid not null references test_cases on delete cascade,
  version integer not null,
  passed integer not null,
  failed integer not null,
  skipped integer not null,
  missing_instrumentation integer not null,
  first_run_at timestamptz not null,
  last_run_at timestamptz not null,
  primary key (test_id, version)
) with (fillfactor = 50);
