-- The agent in every table that grows with traffic, first in its key (docs/decisions/047-keys-by-agent.md).

-- Of old rows, the start of the service fills it (store/keys.ts).
alter table run_turns add column agent_id uuid;
alter table launch_tests add column agent_id uuid;
alter table launch_inputs add column agent_id uuid;
alter table backtest_results add column agent_id uuid;
alter table erasure_matches add column agent_id uuid;
alter table test_hours add column agent_id uuid;
alter table check_hours add column agent_id uuid;
alter table test_versions add column agent_id uuid;
alter table test_states add column agent_id uuid;
alter table judge_test_days add column agent_id uuid;
alter table judge_answers add column agent_id uuid;

-- Tables whose rows lack an agent, or whose key is the former one. A row goes once the new key is in place.
create table pending_keys (
  table_name text primary key,
  -- Of the former key and the new one.
  former text not null,
  columns text not null,
  -- An expression over a row: its agent. Null: no row lacks it.
  agent text,
  -- Small: filled before the service starts. Others, while it runs.
  small boolean not null
);
insert into pending_keys (table_name, former, columns, agent, small) values
  ('run_turns', 'run_id, turn', 'agent_id, run_id, turn', '(select r.agent_id from runs r where r.id = run_id)', true),
  ('launch_tests', 'launch_id, test_id', 'agent_id, launch_id, test_id',
    '(select l.agent_id from launches l where l.id = launch_id)', true),
  ('launch_inputs', 'launch_id, test_id, row', 'agent_id, launch_id, test_id, row',
    '(select l.agent_id from launches l where l.id = launch_id)', true),
  ('backtest_results', 'backtest_id, trace_id', 'agent_id, backtest_id, trace_id',
    '(select b.agent_id from backtests b where b.id = backtest_id)', true),
  ('erasure_matches', 'erasure_id, trace_id', 'agent_id, erasure_id, trace_id',
    '(select t.agent_id from traces t where t.id = trace_id)', true),
  ('test_hours', 'test_id, hour', 'agent_id, test_id, hour',
    '(select c.agent_id from test_cases c where c.id = test_id)', true),
  ('check_hours', 'test_id, check_id, hour', 'agent_id, test_id, check_id, hour',
    '(select c.agent_id from test_cases c where c.id = test_id)', true),
  ('test_versions', 'test_id, version', 'agent_id, test_id, version',
    '(select c.agent_id from test_cases c where c.id = test_id)', true),
  ('test_states', 'test_id', 'agent_id, test_id', '(select c.agent_id from test_cases c where c.id = test_id)', true),
  ('judge_test_days', 'test_id, day', 'agent_id, test_id, day',
    '(select c.agent_id from test_cases c where c.id = test_id)', true),
  -- Answers about no trace were those of a project: its first agent keeps them, and the others ask once more.
  ('judge_answers', 'key', 'agent_id, key',
    'coalesce((select t.agent_id from traces t where t.id = trace_id),
      (select a.id from agents a where a.project_id = judge_answers.project_id order by a.id limit 1))', true);

-- What hangs on traces and runs goes with them in triggers, without a foreign key: dropping a range of traces must not look
-- for rows of other tables, and a table of the whole cluster cannot be referred to.
alter table labels drop constraint labels_trace_id_fkey;
alter table result_states drop constraint result_states_trace_id_fkey;
alter table run_turns drop constraint run_turns_run_id_fkey;
alter table erasure_matches drop constraint erasure_matches_erasure_id_fkey;
create index erasure_matches_erasure on erasure_matches (erasure_id, trace_id);

-- These have few rows: one for each press of a button. The indexes by id find what a URL names.
alter table launch_tests drop constraint launch_tests_launch_id_fkey;
alter table launch_inputs drop constraint launch_inputs_launch_id_fkey;
alter table runs drop constraint runs_launch_id_fkey;
alter table launches drop constraint launches_pkey, add constraint launches_pkey primary key (agent_id, id);
create index launches_id on launches (id);
drop index launches_newest;
alter table backtest_results drop constraint backtest_results_backtest_id_fkey;
alter table backtests drop constraint backtests_pkey, add constraint backtests_pkey primary key (agent_id, id);
create index backtests_id on backtests (id);
drop index backtests_newest;
alter table labels drop constraint labels_pkey, add constraint labels_pkey primary key (agent_id, id);
create index labels_id on labels (id);
drop index labels_agent;
alter table labels drop constraint labels_run_id_test_id_check_id_key,
  add constraint labels_of_result unique nulls not distinct (agent_id, run_id, test_id, check_id);
create index labels_run on labels (run_id);

-- What belongs to a test is found by the agent and the test.
alter table test_cases add constraint test_cases_of_agent unique (agent_id, id);
drop index test_cases_agent;
alter table test_hours drop constraint test_hours_test_id_fkey;
alter table check_hours drop constraint check_hours_test_id_fkey;
alter table test_versions drop constraint test_versions_test_id_fkey;
alter table test_states drop constraint test_states_test_id_fkey;
alter table judge_test_days drop constraint judge_test_days_test_id_fkey;

-- Not checked yet: that would lock both tables for as long as it takes.
alter table test_hours add constraint test_hours_test_fkey
  foreign key (agent_id, test_id) references test_cases (agent_id, id) on delete cascade not valid;
alter table check_hours add constraint check_hours_test_fkey
  foreign key (agent_id, test_id) references test_cases (agent_id, id) on delete cascade not valid;
alter table test_versions add constraint test_versions_test_fkey
  foreign key (agent_id, test_id) references test_cases (agent_id, id) on delete cascade not valid;
alter table test_states add constraint test_states_test_fkey
  foreign key (agent_id, test_id) references test_cases (agent_id, id) on delete cascade not valid;
alter table judge_test_days add constraint judge_test_days_test_fkey
  foreign key (agent_id, test_id) references test_cases (agent_id, id) on delete cascade not valid;
alter table launch_tests add constraint launch_tests_launch_fkey
  foreign key (agent_id, launch_id) references launches on delete cascade not valid;
alter table launch_inputs add constraint launch_inputs_launch_fkey
  foreign key (agent_id, launch_id) references launches on delete cascade not valid;
alter table runs add constraint runs_launch_fkey
  foreign key (agent_id, launch_id) references launches on delete cascade not valid;
alter table backtest_results add constraint backtest_results_backtest_fkey
  foreign key (agent_id, backtest_id) references backtests on delete cascade not valid;

-- Tables without a row get their key at once.
do $$
declare
  pending pending_keys;
  has_rows boolean;
  unchecked record;
begin
  for pending in select * from pending_keys loop
    execute format('select exists (select from %I)', pending.table_name) into has_rows;
    continue when has_rows;
    execute format('alter table %I drop constraint %I, add constraint %I primary key (%s)', pending.table_name,
      pending.table_name || '_pkey', pending.table_name || '_pkey', pending.columns);
    for unchecked in
      select conname from pg_constraint where conrelid = pending.table_name::regclass and contype = 'f' and not convalidated
    loop
      execute format('alter table %I validate constraint %I', pending.table_name, unchecked.conname);
    end loop;
    delete from pending_keys where table_name = pending.table_name;
  end loop;
  if not exists (select from runs where launch_id is not null) then
    alter table runs validate constraint runs_launch_fkey;
  end if;
end
$$;

-- The same as before, by agent.
drop function add_test_results(uuid, uuid[], uuid[], boolean[]);
-- Adds results of a test, sorted by trace, and returns how often they changed its state. A failure of null is a result
-- that counts neither way. Of a trace, the result of its latest run counts; run ids are in the order of the runs.
-- A state is left by three equal results in a row whose last trace arrived after the one that led to the state: late
-- results of earlier traces never bring an old state back.
create function add_test_results(for_agent uuid, for_test uuid, new_traces uuid[], new_runs uuid[],
  new_failures boolean[])
returns integer language plpgsql as $$
declare
  kept_max constant integer := 32;
  known test_states;
  -- Not the fields of `known`: appending to a field copies the array.
  kept_traces uuid[];
  kept_runs uuid[];
  kept_failures boolean[];
  size integer;
  place integer;
  -- The first place that is new or different.
  touched integer := 1000000;
  changes integer := 0;
begin
  select * into known from test_states where agent_id = for_agent and test_id = for_test for update;
  if known.test_id is null then
    -- The state of a test is forgotten once it evaluates no traffic: runs that began before must not bring it back.
    insert into test_states (agent_id, test_id) select agent_id, id from test_cases
      where id = for_test and agent_id = for_agent and status = 'active' and passive_behavior <> 'manual_only' and turn_count = 1
      on conflict do nothing;
    select * into known from test_states where agent_id = for_agent and test_id = for_test for update;
    if known.test_id is null then return 0; end if;
  end if;
  kept_traces := known.traces;
  kept_runs := known.runs;
  kept_failures := known.failures;
  for item in 1 .. cardinality(new_traces) loop
    size := cardinality(kept_traces);
    if size = 0 or new_traces[item] > kept_traces[size] then
      if new_failures[item] is not null then
        kept_traces := kept_traces || new_traces[item];
        kept_runs := kept_runs || new_runs[item];
        kept_failures := kept_failures || new_failures[item];
        touched := least(touched, size + 1);
      end if;
      continue;
    end if;
    place := array_position(kept_traces, new_traces[item]);
    if place is not null then
      if kept_runs[place] > new_runs[item] then
        continue;
      elsif new_failures[item] is null then
        kept_traces := kept_traces[:place - 1] || kept_traces[place + 1:];
        kept_runs := kept_runs[:place - 1] || kept_runs[place + 1:];
        kept_failures := kept_failures[:place - 1] || kept_failures[place + 1:];
      else
        kept_runs[place] := new_runs[item];
        kept_failures[place] := new_failures[item];
      end if;
      touched := least(touched, place);
    elsif new_failures[item] is not null then
      place := size - 1;
      while place > 0 and kept_traces[place] > new_traces[item] loop place := place - 1; end loop;
      if place > 0 or size < kept_max then
        kept_traces := kept_traces[:place] || new_traces[item] || kept_traces[place + 1:];
        kept_runs := kept_runs[:place] || new_runs[item] || kept_runs[place + 1:];
        kept_failures := kept_failures[:place] || new_failures[item] || kept_failures[place + 1:];
        touched := least(touched, place + 1);
      end if;
    end if;
  end loop;
  size := cardinality(kept_traces);
  if known.state = 'failing' or true = any (kept_failures) then
    for item in greatest(touched, 3) .. size loop
      if kept_failures[item] <> (known.state = 'failing')
        and kept_failures[item - 1] = kept_failures[item] and kept_failures[item - 2] = kept_failures[item]
        and (known.last_trace_id is null or kept_traces[item] > known.last_trace_id)
      then
        known.state := case when kept_failures[item] then 'failing' else 'fine' end;
        known.first_trace_id := kept_traces[item - 2];
        known.last_trace_id := kept_traces[item];
        -- The first 48 bits of a UUIDv7 are the milliseconds of its creation.
        known.since := to_timestamp(('x' || lpad(left(replace(known.first_trace_id::text, '-', ''), 12), 16, '0'))
          ::bit(64)::bigint / 1000.0);
        insert into test_state_changes (agent_id, test_id, state) values (for_agent, for_test, known.state);
        changes := changes + 1;
      end if;
    end loop;
  end if;
  if size > kept_max then
    kept_traces := kept_traces[size - kept_max + 1:];
    kept_runs := kept_runs[size - kept_max + 1:];
    kept_failures := kept_failures[size - kept_max + 1:];
  end if;
  if touched <= size or size < cardinality(known.traces) then
    update test_states set state = known.state, since = known.since, first_trace_id = known.first_trace_id,
      last_trace_id = known.last_trace_id, traces = kept_traces, runs = kept_runs, failures = kept_failures
      where agent_id = for_agent and test_id = for_test;
  end if;
  return changes;
end
$$;

create or replace function delete_turns_of(runs_of_turns uuid[]) returns void language plpgsql as $$
begin
  delete from judge_answers using runs r, run_turns u
    where r.id = any (runs_of_turns) and u.agent_id = r.agent_id and u.run_id = r.id
      and judge_answers.agent_id = u.agent_id and judge_answers.trace_id = u.trace_id;
  delete from judge_calls where run_id = any (runs_of_turns);
  -- With their turns.
  delete from runs where id = any (runs_of_turns) and verdict is not null;
  delete from run_turns u using runs r
    where r.id = any (runs_of_turns) and u.agent_id = r.agent_id and u.run_id = r.id;
  update runs set detail = null, lease = null, lease_until = null, next_try_at = null, waiting_reason = null,
      state = case when l.cancel_requested_at is null then 'error' else 'cancelled' end,
      error = case when l.cancel_requested_at is null then 'The trace of a turn was deleted during the run.' end,
      finished_at = now()
    from launches l
    where runs.id = any (runs_of_turns) and runs.state in ('pending', 'running')
      and l.agent_id = runs.agent_id and l.id = runs.launch_id;
  perform end_launches(array(select distinct launch_id from runs where id = any (runs_of_turns)));
end
$$;

create or replace function delete_what_hangs_on_traces() returns trigger language plpgsql as $$
declare
  runs_of_turns uuid[] := array(select distinct u.run_id from run_turns u join gone on gone.id = u.trace_id);
begin
  delete from trace_batches using gone where trace_batches.trace_id = gone.id;
  delete from waiting_records w using (
    select agent_id, external_id as otlp_trace_id from gone
    union select o.agent_id, o.otlp_trace_id from trace_otlp_ids o join gone on gone.id = o.trace_id
  ) named
    where w.agent_id = named.agent_id and w.otlp_trace_id = named.otlp_trace_id;
  delete from trace_otlp_ids using gone where trace_otlp_ids.trace_id = gone.id;
  delete from judge_calls using gone where judge_calls.trace_id = gone.id;
  delete from judge_answers using gone where judge_answers.trace_id = gone.id;
  delete from labels using gone where labels.trace_id = gone.id;
  delete from result_states s using gone where s.agent_id = gone.agent_id and s.trace_id = gone.id;
  if runs_of_turns <> '{}' then perform delete_turns_of(runs_of_turns); end if;
  delete from runs using gone where runs.trace_id = gone.id;
  return null;
end
$$;

create or replace function delete_what_hangs_on_runs() returns trigger language plpgsql as $$
declare
  of_launches uuid[] := array(select distinct launch_id from gone where launch_id is not null);
begin
  if of_launches = '{}' then return null; end if;
  delete from run_turns u using gone where u.agent_id = gone.agent_id and u.run_id = gone.id;
  delete from judge_calls using gone where judge_calls.run_id = gone.id;
  delete from labels using gone where labels.run_id = gone.id;
  perform from launches where id = any (of_launches) order by id for update;
  delete from launch_inputs i using (
    select agent_id, launch_id, test_id, test_row from gone where test_row is not null
    except select agent_id, launch_id, test_id, test_row from runs where launch_id = any (of_launches)
  ) unused
    where i.agent_id = unused.agent_id and i.launch_id = unused.launch_id and i.test_id = unused.test_id
      and i.row = unused.test_row;
  delete from launch_tests t using (
    select agent_id, launch_id, test_id from gone except select agent_id, launch_id, test_id from runs
      where launch_id = any (of_launches)
  ) unused
    where t.agent_id = unused.agent_id and t.launch_id = unused.launch_id and t.test_id = unused.test_id;
  perform end_launches(of_launches);
  return null;
end
$$;
