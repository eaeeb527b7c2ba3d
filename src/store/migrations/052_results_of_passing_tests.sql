-- Tests that pass, as most do, are counted without a look at each result: it took 5 ms for 20 tests of 32 runs.

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
