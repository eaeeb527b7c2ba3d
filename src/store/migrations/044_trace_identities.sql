-- The identities of traces in a table of their own (docs/decisions/047-keys-by-agent.md), which is never divided: the first
-- request with an identity makes its trace. They stay when the retention time of a trace is over, so that what is sent
-- again is not counted twice, and go with a deletion or an erasure. No foreign key: every insert would look it up.
create table trace_identities (
  agent_id uuid not null,
  -- Before the text, so that nothing is padded.
  trace_id uuid not null,
  external_id text not null,
  primary key (agent_id, external_id)
);

-- The id of the trace with this identity. The planner writes the body in place of a call.
create function trace_named(of_agent uuid, named text) returns table (trace_id uuid)
language sql stable parallel safe as $$
  select i.trace_id from trace_identities i where i.agent_id = of_agent and i.external_id = named
$$;

-- Whether the identity is that of a trace from before, which may not be in `trace_identities` yet.
create function is_named_before(of_agent uuid, named text) returns boolean
language sql stable parallel safe as $$
  select false
$$;

-- While identities of old traces are filled (store/identities.ts), both look at the traces, which are unique until then.
do $$
begin
  if exists (select from traces) then
    create or replace function trace_named(of_agent uuid, named text) returns table (trace_id uuid)
    language sql stable parallel safe as $body$
      select t.id from traces t where t.agent_id = of_agent and t.external_id = named
      union
      select i.trace_id from trace_identities i where i.agent_id = of_agent and i.external_id = named
    $body$;
    create or replace function is_named_before(of_agent uuid, named text) returns boolean
    language sql stable parallel safe as $body$
      select exists (select from traces t where t.agent_id = of_agent and t.external_id = named)
    $body$;
    insert into backfills (name, below) values ('trace_identities', id_at(now() + interval '10 minutes'));
  else
    alter table traces drop constraint traces_identity;
  end if;
end
$$;

-- Retention sets this in its transactions.
create function delete_identities() returns trigger language plpgsql as $$
begin
  if coalesce(current_setting('onlooker.keeps_identities', true), '') <> 'on' then
    delete from trace_identities i using gone
      where i.agent_id = gone.agent_id and i.external_id = gone.external_id and i.trace_id = gone.id;
  end if;
  return null;
end
$$;
create trigger traces_deleted_identities after delete on traces referencing old table as gone
  for each statement execute function delete_identities();

-- Those that stayed.
create function delete_identities_of_agent() returns trigger language plpgsql as $$
begin
  delete from trace_identities where agent_id = old.id;
  return null;
end
$$;
create trigger agents_deleted_identities after delete on agents
  for each row execute function delete_identities_of_agent();
