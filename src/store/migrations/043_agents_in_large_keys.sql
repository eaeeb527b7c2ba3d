-- The agent in the keys of the tables that ingestion and evaluation write. It comes last: what is named by its id alone is
-- found by the same index as before, and no table has one more.
insert into pending_keys (table_name, former, columns, agent, small) values
  ('traces', 'id', 'id, agent_id', null, false),
  ('trace_batches', 'trace_id, seq', 'trace_id, seq, agent_id', null, false),
  ('runs', 'id', 'id, agent_id', null, false),
  ('judge_calls', 'id', 'id, agent_id', null, false);

-- Tables without a row get their key at once, the others while the service runs.
do $$
declare
  pending pending_keys;
  has_rows boolean;
begin
  for pending in select * from pending_keys where not small loop
    execute format('select exists (select from %I)', pending.table_name) into has_rows;
    continue when has_rows;
    execute format('alter table %I drop constraint %I, add constraint %I primary key (%s)', pending.table_name,
      pending.table_name || '_pkey', pending.table_name || '_pkey', pending.columns);
    if pending.table_name = 'runs' then
      drop index runs_one_pending;
      create unique index runs_one_pending on runs (trace_id, agent_id) where state = 'pending' and kind = 'passive';
    end if;
    delete from pending_keys where table_name = pending.table_name;
  end loop;
end
$$;
