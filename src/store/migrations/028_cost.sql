-- What the models of a trace used, from which its cost is computed with the prices of its day.

-- `usage` is a JSON list of a list for each model, empty without calls (model/price/usage.ts). Providers as tools and models.
-- Null: the trace is from before, and `backfills` has not come to it.
alter table traces
  add column cached_tokens bigint,
  add column providers text[],
  add column usage text;

alter table trace_values drop constraint trace_values_kind_check;
alter table trace_values add constraint trace_values_kind_check
  check (kind in ('tool', 'model', 'provider', 'outcome', 'version'));

-- Deletes the tools, models and providers that no trace of these minutes has any more.
create or replace function delete_unused_values(agents uuid[], minutes bigint[]) returns void
language plpgsql set plan_cache_mode = force_generic_plan as $$
begin
  perform from unnest(agents, minutes) as freed (agent_id, minute)
    cross join lateral (
      select from trace_values v
      where v.agent_id = freed.agent_id and v.minute = freed.minute and v.kind in ('tool', 'model', 'provider')
      order by v.kind, v.value collate "C" for update
    ) locked;
  delete from trace_values v using unnest(agents, minutes) as freed (agent_id, minute)
    where v.agent_id = freed.agent_id and v.minute = freed.minute and v.kind in ('tool', 'model', 'provider')
      and not exists (
        select from traces t
        where t.agent_id = v.agent_id and t.id >= id_at(to_timestamp(v.minute * 60.0))
          and t.id < id_at(to_timestamp((v.minute + 1) * 60.0))
          and v.value = any (case v.kind when 'tool' then t.tools when 'model' then t.models else t.providers end)
      );
end
$$;

-- Older traces are read again for it.
insert into backfills (name, below)
  select 'trace_values', id_at(now() + interval '10 minutes') where exists (select from traces limit 1)
  on conflict (name) do update set below = excluded.below, lease_until = now();

-- The tokens of evaluated traces by model, in the hour in which they were received. Empty texts: not known.
create table model_hours (
  agent_id uuid not null references agents on delete cascade,
  hour timestamptz not null,
  provider text not null,
  model text not null,
  -- Prompts have more tokens than this.
  prompt_above integer not null,
  calls bigint not null,
  -- Calls that say nothing of their tokens.
  unmeasured bigint not null,
  input_tokens bigint not null,
  cached_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  primary key (agent_id, hour, provider, model, prompt_above)
) with (fillfactor = 50);

-- Per million tokens; null: as other input.
alter table judge_prices
  add column cached_usd double precision check (cached_usd >= 0),
  add column cache_write_usd double precision check (cache_write_usd >= 0);
