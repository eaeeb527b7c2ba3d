-- Batches, most of what traces take, divided into ranges of the trace's id, which has the time of its arrival, so that old
-- ones go by dropping a table (docs/decisions/047-keys-by-agent.md). The service makes the ranges (store/ranges.ts).

-- Makes today's table the range of all ids below this one. If a valid check says so, no row is read.
create function divide_batches(below uuid) returns void language plpgsql as $$
begin
  drop trigger trace_batches_deleted on trace_batches;
  alter table trace_batches rename to trace_batches_first;
  alter index trace_batches_pkey rename to trace_batches_first_pkey;
  alter index trace_batches_resource rename to trace_batches_first_resource_id_idx;
  create table trace_batches (like trace_batches_first including defaults including storage) partition by range (trace_id);
  alter table trace_batches add primary key (trace_id, seq, agent_id);
  create index trace_batches_resource on trace_batches (resource_id) where resource_id is not null;
  execute format('alter table trace_batches attach partition trace_batches_first for values from (minvalue) to (%L)', below);
  -- What comes while a range is missing is refused nowhere.
  create table trace_batches_rest partition of trace_batches default with (toast_tuple_target = 8160);
  create trigger trace_batches_deleted after delete on trace_batches referencing old table as gone
    for each statement execute function delete_unused_resources();
end
$$;

-- One table again, with all rows copied: a cluster divides by agent alone, and a backup may be of a database before ranges.
create function join_batches() returns void language plpgsql as $$
begin
  create table trace_batches_joined (like trace_batches including defaults including storage) with (toast_tuple_target = 8160);
  insert into trace_batches_joined select * from trace_batches;
  drop table trace_batches;
  alter table trace_batches_joined rename to trace_batches;
  alter table trace_batches add primary key (trace_id, seq, agent_id);
  create index trace_batches_resource on trace_batches (resource_id) where resource_id is not null;
  create trigger trace_batches_deleted after delete on trace_batches referencing old table as gone
    for each statement execute function delete_unused_resources();
end
$$;

-- At most one row: the ranges below this id are to be dropped, once no trace is left in them. Until then, a deletion by
-- retention leaves the batches of these traces where they are. Withdrawn: not anymore, and what was left is to be deleted.
create table range_drops (
  singleton boolean primary key default true check (singleton),
  below uuid not null,
  withdrawn boolean not null default false
);

-- A database without batches is divided at once, others while the service runs. A cluster's tables are not.
do $$
begin
  if to_regclass('pg_dist_partition') is null
    and not exists (select from pending_keys where table_name = 'trace_batches')
    and not exists (select from trace_batches)
  then
    perform divide_batches(id_at(date_trunc('day', now(), 'UTC') + interval '4 days'));
  end if;
end
$$;

-- The lowest and highest id say in which ranges to look. Retention sets `onlooker.drops_below` in its transactions.
create or replace function delete_what_hangs_on_traces() returns trigger language plpgsql as $$
declare
  runs_of_turns uuid[] := array(select distinct u.run_id from run_turns u join gone on gone.id = u.trace_id);
  dropped_below uuid := coalesce(nullif(current_setting('onlooker.drops_below', true), ''),
    '00000000-0000-0000-0000-000000000000');
  lowest uuid := (select id from gone where id >= dropped_below order by id limit 1);
  highest uuid := (select id from gone order by id desc limit 1);
begin
  if lowest is not null then
    delete from trace_batches using gone
      where trace_batches.trace_id = gone.id and trace_batches.trace_id >= lowest and trace_batches.trace_id <= highest;
  end if;
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
