-- Saved views of an agent's list of traces: named filters.
create table trace_views (
  id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  name text not null,
  -- Parameters of the list's URL, as an object of texts in their order.
  search json not null,
  unique (agent_id, name)
);
