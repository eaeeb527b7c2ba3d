-- The passive runs that are pending or wait for the judge, by agent and by when they are due, so that a claim skips the backlog
-- of an agent at its limit (docs/decisions/026-shares-of-computation.md). Their conditions are written so that only statements
-- with the same ones use them. A database with runs gets them while the service runs (store/runs/agent-indexes.ts).
do $$
begin
  if exists (select 1 from runs) then
    insert into backfills (name, below) values ('runs_by_agent', id_at(now()));
  else
    create index runs_due_by_agent on runs (agent_id, due_at) where (case when state = 'pending' then kind end) = 'passive';
    create index runs_waiting_by_agent on runs (agent_id, next_try_at)
      where (case when kind = 'passive' then next_try_at end) is not null;
  end if;
end
$$;
