-- The rules that redacted something in a trace, where lists find them: on the row, and for rare ones by the minute.

-- Null: nothing was redacted, or the trace is from before, and `backfills` has not come to it.
alter table traces add column redacted text[];

-- No row has a kind that the former check did not allow: they are not read again.
alter table trace_values drop constraint trace_values_kind_check;
alter table trace_values add constraint trace_values_kind_check
  check (kind in ('tool', 'model', 'provider', 'redacted', 'outcome', 'version')) not valid;

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

-- Older traces with redactions are read again for it.
insert into backfills (name, below)
  select 'trace_values', id_at(now() + interval '10 minutes') where exists (select from redaction_hours limit 1)
  on conflict (name) do update set below = excluded.below, lease_until = now();
