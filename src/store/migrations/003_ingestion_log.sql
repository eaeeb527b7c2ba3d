-- What became of ingestion requests, counted by the minute and kept for seven days.

-- The id's time is the minute: ids are in the order of the minutes, which makes them cursors and ends of retention.
-- No foreign keys to keys and agents: what was counted stays when they are gone.
create table ingestion_minutes (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  at timestamptz not null,
  code text not null,
  key_id uuid not null,
  -- Sent by anyone with a key: shortened, and few of them a minute.
  service_name text,
  agent_id uuid,
  requests bigint not null,
  spans bigint not null,
  -- PARTIAL: traces refused, by code.
  reasons jsonb not null,
  constraint ingestion_minutes_counted
    unique nulls not distinct (project_id, at, code, key_id, service_name, agent_id)
);
create index ingestion_minutes_newest on ingestion_minutes (project_id, id desc);

-- {"A": 1, "B": 2} and {"B": 3} are {"A": 1, "B": 5}.
create function add_counts(one jsonb, other jsonb) returns jsonb immutable language sql as $$
  select coalesce(jsonb_object_agg(code, total), '{}') from (
    select code, sum(amount::bigint) as total
    from (select * from jsonb_each_text(one) union all select * from jsonb_each_text(other)) as each (code, amount)
    group by code
  ) as totals
$$;
