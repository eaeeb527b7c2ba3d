-- Tools, models and results of tests, where lists find them: on the rows, and for rare ones by the minute.

-- At most 50 each, in the order of the spans. Null: the trace is from before, and `backfills` has not come to it.
alter table traces
  add column tools text[],
  add column models text[];

-- Parallel to `test_ids`: a character for each outcome (p, f, s, m), and the version of each test. Null like the above.
alter table runs
  add column test_outcomes text,
  add column test_versions integer[];

-- Which values occur in the traces of an agent that arrived in one minute, or for tests in the hour that begins with it.
-- Not a row per trace, which ingestion would pay for: a common value has one row a minute, a rare one as many as traces.
-- The minute is that of the trace's id. Of a test: its id with the outcome, and its id with the version.
create table trace_values (
  agent_id uuid not null,
  kind text not null check (kind in ('tool', 'model', 'outcome', 'version')),
  value text not null,
  -- Minutes since 1970.
  minute bigint not null,
  primary key (agent_id, kind, value, minute)
);
create index trace_values_minute on trace_values (agent_id, minute);

create function minute_of(id uuid) returns bigint language sql immutable parallel safe
return (('x' || lpad(translate(left(id::text, 13), '-', ''), 16, '0'))::bit(64)::bigint / 60000);

-- Inserts the values that are missing, given in the order of agent, minute, kind and value. The lock makes a deletion that
-- finds one unused wait for the commit, or this transaction insert it again. The plan is kept: planning takes longer.
create function add_trace_values(agents uuid[], kinds text[], names text[], minutes bigint[]) returns void
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

-- Deletes the tools and models that no trace of these minutes has any more.
create function delete_unused_values(agents uuid[], minutes bigint[]) returns void
language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  perform from unnest(agents, minutes) as freed (agent_id, minute)
    cross join lateral (
      select from trace_values v
      where v.agent_id = freed.agent_id and v.minute = freed.minute and v.kind in ('tool', 'model')
      order by v.kind, v.value collate "C" for update
    ) locked;
  delete from trace_values v using unnest(agents, minutes) as freed (agent_id, minute)
    where v.agent_id = freed.agent_id and v.minute = freed.minute and v.kind in ('tool', 'model')
      and not exists (
        select from traces t
        where t.agent_id = v.agent_id and t.id >= id_at(to_timestamp(v.minute * 60.0))
          and t.id < id_at(to_timestamp((v.minute + 1) * 60.0))
          and v.value = any (case v.kind when 'tool' then t.tools else t.models end)
      );
end
$$;

create function delete_values_of_traces() returns trigger language plpgsql as $$
declare
  agents uuid[];
  minutes bigint[];
begin
  select array_agg(agent_id), array_agg(minute) into agents, minutes
    from (select distinct agent_id, minute_of(id) as minute from gone order by 1, 2) freed;
  if agents is not null then perform delete_unused_values(agents, minutes); end if;
  return null;
end
$$;
-- Triggers run in the order of their names. Tools and models are locked before what hangs on the traces, as by the
-- transactions that store traces; results of tests after the runs, as by those that complete runs.
create trigger traces_calls_deleted after delete on traces referencing old table as gone
  for each statement execute function delete_values_of_traces();

create function delete_results_of_traces() returns trigger language plpgsql as $$
declare
  agents uuid[];
  hours bigint[];
begin
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
create trigger traces_tests_deleted after delete on traces referencing old table as gone
  for each statement execute function delete_results_of_traces();

-- Work on rows from before a migration, from the newest down: those with an id below `below` are left. A process that
-- works holds the lease. A row goes when nothing is left. Ids of other clocks may be ten minutes ahead.
create table backfills (
  name text primary key,
  below uuid not null,
  lease_until timestamptz not null default now()
);
insert into backfills (name, below)
  select 'trace_values', id_at(now() + interval '10 minutes') where exists (select from traces limit 1);
