-- Accounts and what they own: sessions, projects, agents, keys, test cases, and their settings. The service creates every
-- id, because PostgreSQL has uuidv7() from version 18 on only.

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

-- What an account has used, for its limits. Nothing that it deletes lowers this.
create table account_use (
  account_id text primary key references accounts on delete cascade,
  -- The UTC day that the counts of a day are of; they start again with the next.
  day date not null,
  -- Of the service's judge, where that has a budget.
  judge_tokens_today bigint not null default 0,
  -- Traces and log records as sent, decompressed; large requests to the API; the inputs of test runs.
  bytes_today bigint not null default 0
) with (fillfactor = 50);

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

-- How an account signs in: with a password.
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
create trigger credentials_password_changed after insert or update of password on credentials
  for each row when (new.password is not null) execute function end_reset_links();

-- Values with an end of life that the accounts library keeps: password resets, whose value is the account's id.
create table verifications (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index verifications_identifier on verifications (identifier);
create index verifications_value on verifications (value);

-- One row per verification email; only a hash of the link's token is kept. `sent_at` is null where the email could not be
-- handed over: such a row counts toward no limit.
create table email_links (
  token_hash bytea primary key,
  account_id text not null references accounts on delete cascade,
  email text not null,
  sent_at timestamptz,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index email_links_account on email_links (account_id, sent_at desc);

-- Attempts to sign in, sign up and the like, counted for all nodes together.
create table attempts (
  kind text not null,
  -- A hash of what the attempts have in common, such as the email and the client's IP address.
  subject bytea not null,
  count integer not null,
  -- The row counts until then.
  ends_at timestamptz not null,
  primary key (kind, subject)
);
create index attempts_end on attempts (ends_at);

-- Shared by every process on this database, such as what session cookies are signed with.
create table secrets (
  name text primary key,
  value text not null
);

-- Personal access tokens. Only a hash of a token is kept.
create table access_tokens (
  id uuid primary key,
  account_id text not null references accounts on delete cascade,
  name text not null,
  hash bytea not null unique,
  last_four text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  -- What the token is for: reading and runs, or erasing.
  scope text not null default 'runs' check (scope in ('runs', 'erasures'))
);
create index access_tokens_account on access_tokens (account_id, id desc);

create table projects (
  id uuid primary key,
  account_id text not null references accounts on delete cascade,
  name text not null,
  created_at timestamptz not null default now(),
  -- What is redacted before it is stored: null for nothing. Every change raises the revision.
  privacy jsonb,
  privacy_revision integer not null default 0,
  -- Days since the trace arrived, which its id says; null: until somebody deletes it.
  retention_days integer check (retention_days between 1 and 3650),
  -- Null: as many as they like.
  requests_per_minute integer check (requests_per_minute between 1 and 1000000)
);
create index projects_account on projects (account_id);

-- The key of a project's pseudonyms, encrypted. It is never replaced: a person's pseudonym stays the same.
create table pseudonym_keys (
  project_id uuid primary key references projects on delete cascade,
  sealed bytea not null,
  created_at timestamptz not null default now()
);

create table agents (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  type text not null check (type in ('http_api', 'workflow', 'flow_builder')),
  otlp_service_name text,
  created_at timestamptz not null default now(),
  -- The share of runs whose semantic checks are judged, and what they may cost in a day (UTC); null: no bound.
  judge_sampling double precision not null default 1 check (judge_sampling between 0 and 1),
  judge_budget_usd double precision check (judge_budget_usd >= 0),
  judge_budget_tokens bigint check (judge_budget_tokens >= 0),
  -- The tracing conventions that traces are read by, beside the documented attributes: names of presets, in the order of
  -- the service's table, or {*}.
  conventions text[] not null default '{*}',
  -- How many traces the latest change left to be derived again; those with `derived_revision` 0 still are, and so are
  -- `reread_left` more, which are marked in portions: those before this id, newest first. Null: all are marked.
  rereading integer not null default 0,
  reread_left integer not null default 0,
  reread_before uuid,
  -- The agent's own rules, which go before its conventions: a list of { from, to, spanName? }.
  convention_rules jsonb not null default '[]',
  -- The span that input and reply are read from: { spanName }; null: as usual.
  read_from jsonb,
  -- The same for the same of these three, '' for none: what statements compare, as rules may be long.
  read_by_key text not null default '*',
  -- What is stored of traces: their content or not, for how long, and which attributes.
  content text not null default 'keep' check (content in ('keep', 'none', 'forget')),
  content_forget_after_s integer check (content_forget_after_s between 60 and 31536000),
  attributes_deny text[] not null default '{}',
  attributes_allow text[],
  -- The same for the same settings of what is stored, '' for everything: what statements compare.
  intake_key text not null default '',
  -- That of the project: statements that store lock the agent, and so compare the revision without a further lock.
  privacy_revision integer not null default 0,
  constraint agents_service_name unique (project_id, otlp_service_name)
);
create index agents_rereading on agents (reread_before) where reread_before is not null;
create index agents_prepared on agents (project_id, id) where read_by_key <> '' or intake_key <> '';
create trigger agents_deleted_identities after delete on agents
  for each row execute function delete_identities_of_agent();

create table keys (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  name text not null,
  hash bytea not null unique,
  last_four text not null,
  access text not null check (access in ('full', 'granular')),
  expires_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null default now(),
  -- Null once the account is gone.
  created_by text references accounts on delete set null,
  -- Null: as many as they like.
  requests_per_minute integer check (requests_per_minute between 1 and 1000000)
);
create index keys_project on keys (project_id);
create index keys_maker on keys (created_by);

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
  updated_at timestamptz not null default now(),
  version integer not null default 1,
  -- A JSON list of texts. Not in `document`, which every evaluation of a live trace reads.
  inputs text,
  input_count smallint not null default 0,
  -- What belongs to a test refers to it by both.
  constraint test_cases_of_agent unique (agent_id, id)
);
-- The question that ingestion asks of every stored trace: is there anything to judge it by?
create index test_cases_eligible on test_cases (agent_id)
  where status = 'active' and passive_behavior <> 'manual_only' and turn_count = 1;

-- How an agent is called in manual runs. `document` is JSON without secrets; `secrets` the encrypted JSON of the values of
-- its secret headers, bound to the agent.
create table agent_connections (
  agent_id uuid primary key references agents on delete cascade,
  document text not null,
  secrets bytea,
  updated_at timestamptz not null default now()
);

-- A project's own judge, in place of the one that the environment gives.
create table judge_connections (
  project_id uuid primary key references projects on delete cascade,
  provider text not null check (provider in ('openai', 'anthropic', 'google', 'openai_compatible')),
  url text,
  model text not null,
  -- Encrypted; null where none is needed.
  api_key bytea,
  key_last_four text,
  concurrency integer not null,
  tokens_per_minute integer,
  -- Whether a failure that one criterion decides is voted on.
  votes boolean not null default false,
  updated_at timestamptz not null default now(),
  -- Encrypted: a JSON array of { name, value }; null: none.
  headers bytea
);

-- What a project pays, where that differs from the prices that come with the service. Per million tokens.
create table judge_prices (
  project_id uuid not null references projects on delete cascade,
  model text not null,
  valid_from date not null,
  input_usd double precision not null check (input_usd >= 0),
  output_usd double precision not null check (output_usd >= 0),
  -- Null: as other input.
  cached_usd double precision check (cached_usd >= 0),
  cache_write_usd double precision check (cache_write_usd >= 0),
  primary key (project_id, model, valid_from)
);

-- Saved views of an agent's list of traces: named filters.
create table trace_views (
  id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  name text not null,
  -- Parameters of the list's URL, as an object of texts in their order.
  search json not null,
  unique (agent_id, name)
);

-- `secret` is encrypted, bound to the agent.
create table alert_webhooks (
  agent_id uuid primary key references agents on delete cascade,
  url text not null,
  secret bytea not null,
  created_at timestamptz not null default now()
);

-- Accounts that turned email alerts off.
create table alert_opt_outs (
  account_id text primary key references accounts on delete cascade,
  created_at timestamptz not null default now()
);
