-- Erasures: everything about a user, a conversation or a text, found in all traces of a project and deleted.

-- What a token is for: reading and runs, or erasing.
alter table access_tokens add column scope text not null default 'runs' check (scope in ('runs', 'erasures'));

-- Dry runs are deleted an hour after they ended. What is looked for is known only while it is needed, and encrypted.
create table erasures (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  -- The account's id; it stays when the account is gone.
  created_by text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  criterion text not null check (criterion in ('userId', 'conversationId', 'externalId', 'traceIds', 'text')),
  dry_run boolean not null,
  state text not null default 'running' check (state in ('running', 'done', 'failed')),
  -- Encrypted JSON: the values, and the tests, notes and views to edit. Null once an erasure has ended.
  sealed bytea,
  -- How many traces may be erased; null: a dry run.
  confirmed integer,
  -- Matches of earlier traces are those of the dry run: only what changed since then is searched.
  since timestamptz,
  -- How far it is: the step and its cursor, which has nothing but ids.
  step text not null,
  cursor text,
  traces integer not null,
  read integer not null default 0,
  matched integer not null default 0,
  erased integer not null default 0,
  edited integer not null default 0,
  attempts integer not null default 0,
  -- Why the last attempt failed.
  error text,
  -- Also when a failed attempt is repeated. A process that works extends it.
  lease uuid,
  lease_until timestamptz
);
create index erasures_project on erasures (project_id, id desc);
create index erasures_open on erasures (id) where state = 'running';
create index erasures_dry on erasures (finished_at) where dry_run;

-- The traces that an erasure found. `place`: where, as encrypted JSON; only of the first ones.
create table erasure_matches (
  erasure_id uuid not null references erasures on delete cascade,
  trace_id uuid not null,
  place bytea,
  primary key (erasure_id, trace_id)
);
create index erasure_matches_trace on erasure_matches (trace_id);

create function delete_erasure_matches() returns trigger language plpgsql as $$
begin
  delete from erasure_matches using gone where erasure_matches.trace_id = gone.id;
  return null;
end
$$;
create trigger traces_deleted_erasures after delete on traces referencing old table as gone
  for each statement execute function delete_erasure_matches();
