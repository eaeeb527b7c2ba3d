-- How an agent is called in manual runs. `document` is JSON without secrets; `secrets` the sealed JSON of the
-- values of its secret headers, bound to the agent.
create table agent_connections (
  agent_id uuid primary key references agents on delete cascade,
  document text not null,
  secrets bytea,
  updated_at timestamptz not null default now()
);
