-- Accounts and what they own: sessions, projects, agents, keys, test cases.

create table accounts (
  id text primary key,
  name text not null,
  email text not null unique,
  email_verified boolean not null default false,
  image text,
  -- Every account gets one project without asking, once: deleting it does not bring it back.
  first_project_made boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table sessions (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sessions_account on sessions (account_id);

-- How an account signs in: a password today.
create table credentials (
  id text primary key,
  account_id text not null references accounts on delete cascade,
  subject text not null,
  provider text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index credentials_account on credentials (account_id);

-- Values with an end of life that the accounts library keeps: password resets.
create table verifications (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index verifications_identifier on verifications (identifier);

-- One row per verification mail; only a hash of the link's token is kept. `sent_at` is null where the mail could
-- not be handed over: such a row counts toward no limit.
create table email_links (
  token_hash bytea primary key,
  account_id text not null references accounts on delete cascade,
  email text not null,
  sent_at timestamptz,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index email_links_account on email_links (account_id, sent_at desc);

-- Shared by every process on this database, such as what session cookies are signed with.
create table secrets (
  name text primary key,
  value text not null
);

create table projects (
  id uuid primary key,
  account_id text not null references accounts on delete cascade,
  name text not null,
  created_at timestamptz not null default now()
);
create index projects_account on projects (account_id);

create table agents (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  type text not null check (type in ('http_api', 'workflow', 'flow_builder')),
  otlp_service_name text,
  created_at timestamptz not null default now(),
  constraint agents_service_name unique (project_id, otlp_service_name)
);

create table keys (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  hash bytea not null unique,
  last_four text not null,
  access text not null check (access in ('full', 'granular')),
  expires_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default now()
);
create index keys_project on keys (project_id);

create table key_agents (
  key_id uuid not null references keys on delete cascade,
  agent_id uuid not null references agents on delete cascade,
  primary key (key_id, agent_id)
);
create index key_agents_agent on key_agents (agent_id);

-- `document` is the whole test case as JSON text: jsonb refuses U+0000 and loses key order.
create table test_cases (
  id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  name text not null,
  status text not null check (status in ('active', 'disabled')),
  passive_behavior text not null check (passive_behavior in ('always_run', 'run_when_relevant', 'manual_only')),
  turn_count integer not null,
  document text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index test_cases_agent on test_cases (agent_id, id desc);
-- The question ingestion asks of every stored trace: is there anything to judge it by?
create index test_cases_eligible on test_cases (agent_id)
  where status = 'active' and passive_behavior <> 'manual_only' and turn_count = 1;
