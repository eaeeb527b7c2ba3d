-- The agent of a batch, which will be the first column of its key (docs/decisions/047-keys-by-agent.md). Null: the trace is
-- from before, and `backfills` has not come to it.
alter table trace_batches add column agent_id uuid;
insert into backfills (name, below)
  select 'batch_agents', id_at(now() + interval '10 minutes') where exists (select from traces limit 1);
