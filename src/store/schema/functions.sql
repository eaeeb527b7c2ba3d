-- All functions. The service replaces this file as a whole when it changed, before it applies what is new of the tables:
-- bodies are not read then. A function that goes, or takes other arguments, is dropped by the migration that needs it.

-- The UUIDv7 of this time whose other bits are those of `rest`; without it, the lowest id of this time.
create or replace function id_at(instant timestamptz, rest uuid default '00000000-0000-0000-0000-000000000000') returns uuid
language sql stable parallel safe
return (
  lpad(to_hex(floor(extract(epoch from instant) * 1000)::bigint), 12, '0') || right(replace(rest::text, '-', ''), 20)
)::uuid;

-- Minutes since 1970 of the time in a UUIDv7.
create or replace function minute_of(id uuid) returns bigint language sql immutable parallel safe
return (('x' || lpad(translate(left(id::text, 13), '-', ''), 16, '0'))::bit(64)::bigint / 60000);

-- {"A": 1, "B": 2} and {"B": 3} are {"A": 1, "B": 5}.
create or replace function add_counts(one jsonb, other jsonb) returns jsonb immutable language sql as $$
  select coalesce(jsonb_object_agg(code, total), '{}') from (
    select code, sum(amount::bigint) as total
    from (select * from jsonb_each_text(one) union all select * from jsonb_each_text(other)) as each (code, amount)
    group by code
  ) as totals
$$;

-- {1, 2} and {3, 4, 5} are {4, 6, 5}.
create or replace function add_each(one integer[], other integer[]) returns integer[] language sql immutable parallel safe
return array(
  select coalesce(a, 0) + coalesce(b, 0) from unnest(one, other) with ordinality as pair (a, b, place) order by place
);

-- Calls a function after rows of a table that is by agent were deleted, which it has as `gone`: a trigger, on a cluster of each
-- shard (store/cluster/groups.sql). `nested`: only after what a foreign key or another trigger deletes.
create or replace function call_after_deletion(name text, of_table text, called text, nested boolean default false) returns void
language plpgsql as $$
begin
  if to_regclass('public.shard_triggers') is null then
    execute format(
      'create trigger %I after delete on %I referencing old table as gone for each statement %s execute function %I()',
      name, of_table, case when nested then 'when (pg_trigger_depth() > 0)' end, called
    );
  else
    insert into shard_triggers (name, table_name, function_name, nested) values (name, of_table, called, nested);
  end if;
end
$$;

-- A new password ends every reset link of its account, in the statement that stores it: the link in an older email, or in
-- one that somebody else requested, must not undo the change.
create or replace function end_reset_links() returns trigger language plpgsql as $$
begin
  delete from verifications where value = new.account_id;
  return null;
end
$$;

-- Deletes these traces, and all that belongs to them or quotes them; returns the ids of those that it found. Locked in the order of
-- their ids, as by all who delete or merge traces. `over`: their retention time is: identities stay, so that what is sent again is
-- not stored again, and values are left to the caller, who deletes those of whole minutes. `below`: batches of traces below it
-- stay, since their range is dropped soon.
create or replace function delete_traces(ids uuid[], over boolean default false, below uuid default null) returns setof uuid
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  gone record;
begin
  select array_agg(id) as ids, array_agg(agent_id) as agents, array_agg(external_id) as names into gone
    from (select id, agent_id, external_id from traces where id = any (ids) order by id for update) locked;
  if gone.ids is null then return; end if;
  delete from traces where id = any (gone.ids);
  perform delete_rows_of_traces(gone.ids, gone.agents, gone.names, over, below);
  return query select unnest(gone.ids);
end
$$;

-- Of traces that are deleted, in the order of their ids. Most have no row in most of these tables: whether one of them has any is
-- asked once, between the lowest and the highest id, and not for each trace. The plan is kept, here and above: with many
-- traces, the planner preferred a new one at each deletion, which took a quarter of its time (docs/decisions/047-keys-by-agent.md).
-- Tools and models are locked before the rest, as by the transactions that store traces; results of tests after the runs, as by
-- those that complete runs.
create or replace function delete_rows_of_traces(ids uuid[], agents uuid[], names text[], over boolean, below uuid) returns void
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  lowest uuid := ids[1];
  highest uuid := ids[cardinality(ids)];
  lowest_batch uuid := greatest(lowest, below);
  has record;
begin
  if not over then perform delete_values_of_traces(ids, agents); end if;
  select
    exists (select from (select distinct unnest(agents) as agent_id) a join waiting_records using (agent_id)) as records,
    exists (select from (select distinct unnest(agents) as agent_id) a join content_deadlines using (agent_id)) as deadlines,
    exists (
      select from (select distinct unnest(agents) as agent_id) a join queue q using (agent_id)
      where q.state in ('pending', 'running') and q.trace_id >= lowest and q.trace_id <= highest
    ) as queued,
    exists (select from run_turns where trace_id >= lowest and trace_id <= highest) as turns,
    exists (select from trace_otlp_ids where trace_id >= lowest and trace_id <= highest) as otlp_ids,
    exists (select from judge_calls where trace_id >= lowest and trace_id <= highest) as calls,
    exists (select from judge_answers where trace_id >= lowest and trace_id <= highest) as answers,
    exists (select from labels where trace_id >= lowest and trace_id <= highest) as labels,
    exists (select from result_states where trace_id >= lowest and trace_id <= highest) as states,
    exists (select from backtest_results where trace_id >= lowest and trace_id <= highest) as backtests,
    exists (select from erasure_matches where trace_id >= lowest and trace_id <= highest) as erasures
    into has;
  if lowest_batch <= highest then
    delete from trace_batches where trace_id = any (ids) and trace_id >= lowest_batch and trace_id <= highest;
  end if;
  if has.records then
    delete from waiting_records w using (
      select * from unnest(agents, names) as named (agent_id, otlp_trace_id)
      union select agent_id, otlp_trace_id from trace_otlp_ids where trace_id = any (ids)
    ) named
      where w.agent_id = named.agent_id and w.otlp_trace_id = named.otlp_trace_id;
  end if;
  if has.otlp_ids then
    if not over then
      delete from trace_identities i using trace_otlp_ids o where o.trace_id = any (ids)
        and i.agent_id = o.agent_id and i.external_id = o.otlp_trace_id and i.trace_id = o.trace_id;
    end if;
    delete from trace_otlp_ids where trace_id = any (ids);
  end if;
  if has.calls then delete from judge_calls where trace_id = any (ids); end if;
  if has.answers then delete from judge_answers where trace_id = any (ids); end if;
  if has.labels then delete from labels where trace_id = any (ids); end if;
  if has.states then delete from result_states where trace_id = any (ids); end if;
  if has.turns then
    perform delete_turns_of(array(select distinct run_id from run_turns where trace_id = any (ids)));
  end if;
  -- The queue first: a run that ends meanwhile is among the runs then.
  if has.queued then
    delete from queue q using unnest(agents, ids) as gone (agent_id, id)
      where q.agent_id = gone.agent_id and q.state in ('pending', 'running') and q.trace_id = gone.id;
  end if;
  delete from runs where trace_id = any (ids);
  if has.backtests then delete from backtest_results where trace_id = any (ids); end if;
  if has.erasures then delete from erasure_matches where trace_id = any (ids); end if;
  if has.deadlines then
    delete from content_deadlines d using unnest(agents, ids) as gone (agent_id, id)
      where d.agent_id = gone.agent_id and d.subject_id = gone.id;
  end if;
  if not over then
    delete from trace_identities i using unnest(agents, ids, names) as gone (agent_id, id, external_id)
      where i.agent_id = gone.agent_id and i.external_id = gone.external_id and i.trace_id = gone.id;
    perform delete_results_of_traces(ids, agents);
  end if;
end
$$;

-- Of traces that arrived while their agent was being deleted, and go with it.
create or replace function delete_rows_of_agents_traces() returns trigger language plpgsql as $$
declare
  all_gone record;
begin
  select array_agg(id order by id) as ids, array_agg(agent_id order by id) as agents, array_agg(external_id order by id) as names
    into all_gone from gone;
  if all_gone.ids is not null then
    perform delete_rows_of_traces(all_gone.ids, all_gone.agents, all_gone.names, false, null);
  end if;
  return null;
end
$$;

-- The results, judge calls and answers of a manual run quote the traces of all its turns, so it is deleted with any of
-- them. A run without results keeps its row without turns; one that has not ended does so.
create or replace function delete_turns_of(runs_of_turns uuid[]) returns void language plpgsql as $$
begin
  -- First: a run that ends meanwhile is among the runs then.
  perform end_runs(runs_of_turns, 'The trace of a turn was deleted during the run.');
  delete from judge_answers using runs r, run_turns u
    where r.id = any (runs_of_turns) and u.agent_id = r.agent_id and u.run_id = r.id
      and judge_answers.agent_id = u.agent_id and judge_answers.trace_id = u.trace_id;
  delete from judge_calls where run_id = any (runs_of_turns);
  -- With their turns.
  delete from runs where id = any (runs_of_turns) and verdict is not null;
  delete from run_turns u using runs r
    where r.id = any (runs_of_turns) and u.agent_id = r.agent_id and u.run_id = r.id;
end
$$;

-- Ends these manual runs of the queue without results: as cancelled if their launch was, else as an error with this reason.
-- One that is evaluated again keeps its results.
create or replace function end_runs(ids uuid[], reason text) returns setof uuid language plpgsql as $$
begin
  return query
  with ended as (delete from queue where id = any (ids) and kind = 'manual' returning *)
  insert into runs (id, agent_id, kind, state, due_at, created_at, attempts, started_at, finished_at, error, launch_id, test_id,
    test_digest, test_row, test_repeat, input_digest)
  select e.id, e.agent_id, e.kind, case when l.cancel_requested_at is null then 'error' else 'cancelled' end, e.due_at,
    e.created_at, e.attempts, e.started_at, now(), case when l.cancel_requested_at is null then reason end, e.launch_id, e.test_id,
    e.test_digest, e.test_row, e.test_repeat, e.input_digest
  from ended e join launches l on l.agent_id = e.agent_id and l.id = e.launch_id
  on conflict (id, agent_id) do nothing
  returning runs.id;
  perform from launches l where l.id = any (array(select r.launch_id from runs r where r.id = any (ids))) order by l.id for update;
  perform end_launches(array(select distinct r.launch_id from runs r where r.id = any (ids)));
end
$$;

-- A launch ends with its last open run.
create or replace function end_launches(ids uuid[]) returns void language sql as $$
  update launches l set
      state = case when l.cancel_requested_at is not null then 'cancelled' else 'completed' end, finished_at = now()
    where l.id = any (ids) and l.state in ('queued', 'running')
      and not exists (select from queue q where q.launch_id = l.id and q.cause = 'traffic')
$$;

-- A launch keeps no test and no input without a run. The order of locks, runs before their launches, is that of the
-- transactions that end runs.
create or replace function delete_what_hangs_on_runs() returns trigger language plpgsql as $$
declare
  of_launches uuid[] := array(select distinct launch_id from gone where launch_id is not null);
begin
  if of_launches = '{}' then return null; end if;
  delete from run_turns u using gone where u.agent_id = gone.agent_id and u.run_id = gone.id;
  delete from judge_calls using gone where judge_calls.run_id = gone.id;
  delete from labels using gone where labels.run_id = gone.id;
  -- Those that were evaluated again.
  delete from queue using gone where queue.agent_id = gone.agent_id and queue.id = gone.id and queue.cause = 'again';
  perform from launches where id = any (of_launches) order by id for update;
  delete from launch_inputs i using (
    select agent_id, launch_id, test_id, test_row from gone where test_row is not null
    except select agent_id, launch_id, test_id, test_row from runs where launch_id = any (of_launches)
    except select agent_id, launch_id, test_id, test_row from queue where launch_id = any (of_launches)
  ) unused
    where i.agent_id = unused.agent_id and i.launch_id = unused.launch_id and i.test_id = unused.test_id
      and i.row = unused.test_row;
  delete from launch_tests t using (
    select agent_id, launch_id, test_id from gone
    except select agent_id, launch_id, test_id from runs where launch_id = any (of_launches)
    except select agent_id, launch_id, test_id from queue where launch_id = any (of_launches)
  ) unused
    where t.agent_id = unused.agent_id and t.launch_id = unused.launch_id and t.test_id = unused.test_id;
  perform end_launches(of_launches);
  return null;
end
$$;

-- Runs of a launch that have not ended go with it, and what they left. A foreign key would cost each passive run.
create or replace function delete_queue_of_launches() returns trigger language plpgsql as $$
declare
  launched uuid[] := array(select id from gone);
begin
  delete from run_turns u using queue q where q.launch_id = any (launched) and u.agent_id = q.agent_id and u.run_id = q.id;
  delete from judge_calls using queue q where q.launch_id = any (launched) and judge_calls.run_id = q.id;
  delete from queue where launch_id = any (launched);
  return null;
end
$$;

-- Those that retention kept.
create or replace function delete_identities_of_agent() returns trigger language plpgsql as $$
begin
  delete from trace_identities where agent_id = old.id;
  return null;
end
$$;

-- Deletes a resource with its last batch. The lock makes this wait for transactions that are storing a batch of the same
-- resource, or deleting one; the second statement then sees what they did.
create or replace function delete_unused_resources() returns trigger language plpgsql as $$
declare
  freed uuid[] := array(select distinct resource_id from gone where resource_id is not null);
begin
  if freed = '{}' then return null; end if;
  perform from shared_resources where id = any (freed) order by id for update;
  delete from shared_resources where id = any (freed)
    and not exists (select from trace_batches where trace_batches.resource_id = shared_resources.id);
  return null;
end
$$;

-- Inserts the values that are missing, given in the order of agent, minute, kind and value. The lock makes a deletion that
-- finds one unused wait for the commit, or this transaction insert it again. The plan is kept: planning takes longer.
create or replace function add_trace_values(agents uuid[], kinds text[], names text[], minutes bigint[]) returns void
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  locked integer;
begin
  loop
    perform from unnest(agents, kinds, names, minutes) as given (agent_id, kind, value, minute)
      cross join lateral (
        select from trace_values v
        where v.agent_id = given.agent_id and v.kind = given.kind and v.value = given.value and v.minute = given.minute
        for key share
      ) known;
    get diagnostics locked = row_count;
    exit when locked = coalesce(cardinality(agents), 0);
    insert into trace_values select * from unnest(agents, kinds, names, minutes) on conflict do nothing;
  end loop;
end
$$;

-- Deletes the tools, models, providers and rules that no trace of these minutes has any more.
create or replace function delete_unused_values(agents uuid[], minutes bigint[]) returns void
language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  perform from unnest(agents, minutes) as freed (agent_id, minute)
    cross join lateral (
      select from trace_values v
      where v.agent_id = freed.agent_id and v.minute = freed.minute and v.kind in ('tool', 'model', 'provider', 'redacted')
      order by v.kind, v.value collate "C" for update
    ) locked;
  delete from trace_values v using unnest(agents, minutes) as freed (agent_id, minute)
    where v.agent_id = freed.agent_id and v.minute = freed.minute and v.kind in ('tool', 'model', 'provider', 'redacted')
      and not exists (
        select from traces t
        where t.agent_id = v.agent_id and t.id >= id_at(to_timestamp(v.minute * 60.0))
          and t.id < id_at(to_timestamp((v.minute + 1) * 60.0))
          and v.value = any (
            case v.kind when 'tool' then t.tools when 'model' then t.models when 'provider' then t.providers
              else t.redacted end
          )
      );
end
$$;

create or replace function delete_values_of_traces(ids uuid[], of_agents uuid[]) returns void language plpgsql as $$
declare
  agents uuid[];
  minutes bigint[];
begin
  select array_agg(agent_id), array_agg(minute) into agents, minutes from (
    select distinct agent_id, minute_of(id) as minute from unnest(of_agents, ids) as gone (agent_id, id) order by 1, 2
  ) freed;
  perform delete_unused_values(agents, minutes);
end
$$;

-- Outcomes and versions of tests, of hours in which no trace is left.
create or replace function delete_results_of_traces(ids uuid[], of_agents uuid[]) returns void
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  agents uuid[];
  hours bigint[];
begin
  select array_agg(agent_id), array_agg(hour) into agents, hours
    from (
      select distinct agent_id, minute_of(id) / 60 * 60 as hour from unnest(of_agents, ids) as gone (agent_id, id)
      where not exists (
        select from traces t
        where t.agent_id = gone.agent_id and t.id >= id_at(to_timestamp(minute_of(gone.id) / 60 * 3600.0))
          and t.id < id_at(to_timestamp((minute_of(gone.id) / 60 + 1) * 3600.0))
      )
      order by 1, 2
    ) freed;
  if agents is null then return; end if;
  perform from unnest(agents, hours) as freed (agent_id, hour)
    cross join lateral (
      select from trace_values v
      where v.agent_id = freed.agent_id and v.minute = freed.hour and v.kind in ('outcome', 'version')
      order by v.kind, v.value collate "C" for update
    ) locked;
  delete from trace_values v using unnest(agents, hours) as freed (agent_id, hour)
    where v.agent_id = freed.agent_id and v.minute = freed.hour and v.kind in ('outcome', 'version')
      and not exists (
        select from traces t
        where t.agent_id = v.agent_id and t.id >= id_at(to_timestamp(v.minute * 60.0))
          and t.id < id_at(to_timestamp((v.minute + 60) * 60.0))
      );
end
$$;

-- Adds results of a test, sorted by trace, and returns how often they changed its state. A failure of null is a result
-- that counts neither way. Of a trace, the result of its latest run counts; run ids are in the order of the runs.
-- A state is left by three equal results in a row whose last trace arrived after the one that led to the state: late
-- results of earlier traces never bring an old state back.
create or replace function add_test_results(for_agent uuid, for_test uuid, new_traces uuid[], new_runs uuid[],
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
  -- Nothing failed lately, and all of these passed after that: no state changes.
  if known.state <> 'failing' and not coalesce(true = any (known.failures || new_failures), true)
    and (known.traces = '{}' or new_traces[1] > known.traces[cardinality(known.traces)])
    and cardinality(new_traces) = (select count(distinct trace) from unnest(new_traces) as trace)
  then
    size := cardinality(known.traces) + cardinality(new_traces);
    update test_states set traces = (known.traces || new_traces)[size - kept_max + 1:],
      runs = (known.runs || new_runs)[size - kept_max + 1:],
      failures = (known.failures || new_failures)[size - kept_max + 1:]
      where agent_id = for_agent and test_id = for_test;
    return 0;
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
