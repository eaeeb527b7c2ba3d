-- What a deletion by retention looks for, so that it costs less for each trace (docs/decisions/047-keys-by-agent.md).

-- Retention, which sets `onlooker.keeps_identities`, deletes the values of its minutes and hours itself, once nothing is left in them
-- (store/traces/retention.ts).
create or replace function delete_values_of_traces() returns trigger language plpgsql as $$
declare
  agents uuid[];
  minutes bigint[];
begin
  if coalesce(current_setting('onlooker.keeps_identities', true), '') = 'on' then return null; end if;
  select array_agg(agent_id), array_agg(minute) into agents, minutes
    from (select distinct agent_id, minute_of(id) as minute from gone order by 1, 2) freed;
  if agents is not null then perform delete_unused_values(agents, minutes); end if;
  return null;
end
$$;

create or replace function delete_results_of_traces() returns trigger language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  agents uuid[];
  hours bigint[];
begin
  if coalesce(current_setting('onlooker.keeps_identities', true), '') = 'on' then return null; end if;
  select array_agg(agent_id), array_agg(hour) into agents, hours
    from (
      select distinct agent_id, minute_of(id) / 60 * 60 as hour from gone g
      where not exists (
        select from traces t
        where t.agent_id = g.agent_id and t.id >= id_at(to_timestamp(minute_of(g.id) / 60 * 3600.0))
          and t.id < id_at(to_timestamp((minute_of(g.id) / 60 + 1) * 3600.0))
      )
      order by 1, 2
    ) freed;
  if agents is null then return null; end if;
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
  return null;
end
$$;

-- Most traces have no row in most of these tables: whether one of them has any is asked once, between the lowest and the
-- highest id, and not for each trace.
create or replace function delete_what_hangs_on_traces() returns trigger language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  lowest uuid := (select id from gone order by id limit 1);
  highest uuid := (select id from gone order by id desc limit 1);
  -- Batches below are left to the drop of their range.
  lowest_batch uuid := greatest(lowest, nullif(current_setting('onlooker.drops_below', true), '')::uuid);
  has record;
begin
  if lowest is null then return null; end if;
  select
    exists (select from (select distinct agent_id from gone) agent join waiting_records using (agent_id)) as records,
    exists (select from run_turns where trace_id >= lowest and trace_id <= highest) as turns,
    exists (select from trace_otlp_ids where trace_id >= lowest and trace_id <= highest) as otlp_ids,
    exists (select from judge_calls where trace_id >= lowest and trace_id <= highest) as calls,
    exists (select from judge_answers where trace_id >= lowest and trace_id <= highest) as answers,
    exists (select from labels where trace_id >= lowest and trace_id <= highest) as labels,
    exists (select from result_states where trace_id >= lowest and trace_id <= highest) as states
    into has;
  if lowest_batch <= highest then
    delete from trace_batches using gone
      where trace_batches.trace_id = gone.id and trace_batches.trace_id >= lowest_batch and trace_batches.trace_id <= highest;
  end if;
  if has.records then
    delete from waiting_records w using (
      select agent_id, external_id as otlp_trace_id from gone
      union select o.agent_id, o.otlp_trace_id from trace_otlp_ids o join gone on gone.id = o.trace_id
    ) named
      where w.agent_id = named.agent_id and w.otlp_trace_id = named.otlp_trace_id;
  end if;
  if has.otlp_ids then delete from trace_otlp_ids using gone where trace_otlp_ids.trace_id = gone.id; end if;
  if has.calls then delete from judge_calls using gone where judge_calls.trace_id = gone.id; end if;
  if has.answers then delete from judge_answers using gone where judge_answers.trace_id = gone.id; end if;
  if has.labels then delete from labels using gone where labels.trace_id = gone.id; end if;
  if has.states then
    delete from result_states s using gone where s.agent_id = gone.agent_id and s.trace_id = gone.id;
  end if;
  if has.turns then
    perform delete_turns_of(array(select distinct u.run_id from run_turns u join gone on gone.id = u.trace_id));
  end if;
  delete from runs using gone where runs.trace_id = gone.id;
  return null;
end
$$;

create or replace function delete_backtest_results() returns trigger language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  lowest uuid := (select id from gone order by id limit 1);
  highest uuid := (select id from gone order by id desc limit 1);
begin
  if exists (select from backtest_results where trace_id >= lowest and trace_id <= highest) then
    delete from backtest_results using gone where backtest_results.trace_id = gone.id;
  end if;
  return null;
end
$$;

create or replace function delete_erasure_matches() returns trigger language plpgsql
set plan_cache_mode = force_generic_plan as $$
declare
  lowest uuid := (select id from gone order by id limit 1);
  highest uuid := (select id from gone order by id desc limit 1);
begin
  if exists (select from erasure_matches where trace_id >= lowest and trace_id <= highest) then
    delete from erasure_matches using gone where erasure_matches.trace_id = gone.id;
  end if;
  return null;
end
$$;
