-- Who judges a project's traces, what was judged before, what was asked, and what it cost.

alter table test_cases add column version integer not null default 1;

-- The share of an agent's runs whose semantic checks are judged, and what they may cost in a day (UTC); null: no bound.
alter table agents
  add column judge_sampling double precision not null default 1 check (judge_sampling between 0 and 1),
  add column judge_budget_usd double precision check (judge_budget_usd >= 0),
  add column judge_budget_tokens bigint check (judge_budget_tokens >= 0);

-- A project's own connection, in place of the one that the environment gives.
create table judge_connections (
  project_id uuid primary key references projects on delete cascade,
  provider text not null check (provider in ('openai', 'anthropic', 'google', 'openai_compatible')),
  url text,
  model text not null,
  -- Sealed; null where none is needed.
  api_key bytea,
  key_last_four text,
  concurrency integer not null,
  tokens_per_minute integer,
  updated_at timestamptz not null default now()
);

-- What is known of a connection, by a hash of all that decides how it answers: one that is edited is another one.
create table judge_states (
  fingerprint bytea primary key,
  -- How it takes the shape of an answer; null: not known yet.
  mode text check (mode in ('json_schema', 'tool', 'json_object', 'text')),
  tested_at timestamptz,
  -- Why it is not asked until it is edited or tested with success: it refused the key, or knows no such model.
  paused_reason text,
  paused_at timestamptz
);

-- Sound answers by a hash of everything that they depend on, the project included.
create table judge_answers (
  key bytea primary key,
  project_id uuid not null references projects on delete cascade,
  answer text not null,
  made_at timestamptz not null default now()
);
create index judge_answers_project on judge_answers (project_id);
create index judge_answers_made on judge_answers (made_at);

-- Every call, with what was sent and what came back. A call made while somebody tried something out has no run.
create table judge_calls (
  id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  trace_id uuid,
  run_id uuid,
  started_at timestamptz not null,
  kind text not null check (kind in ('route', 'semantic')),
  provider text not null,
  model text not null,
  prompt_version text not null,
  mode text not null,
  state text not null,
  reason text,
  ms integer not null,
  input_tokens integer not null,
  output_tokens integer not null,
  -- Null where the price of the model is not known.
  cost_usd double precision,
  -- Instructions, material and answer, zstd-compressed JSON.
  detail bytea not null
);
alter table judge_calls alter column detail set storage external;
create index judge_calls_run on judge_calls (run_id, id);
create index judge_calls_trace on judge_calls (trace_id);
create index judge_calls_agent on judge_calls (agent_id, id desc);

-- By day (UTC). `unpriced_tokens`: those of calls whose price is not known, which `cost_usd` leaves out.
create table judge_days (
  agent_id uuid not null references agents on delete cascade,
  day date not null,
  calls integer not null,
  -- Questions that needed no call.
  cached integer not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cost_usd double precision not null,
  unpriced_tokens bigint not null,
  primary key (agent_id, day)
) with (fillfactor = 50);

-- The same, shared among the tests that a call asked about, by their parts of its questions.
create table judge_test_days (
  test_id uuid not null references test_cases on delete cascade,
  day date not null,
  input_tokens double precision not null,
  output_tokens double precision not null,
  cost_usd double precision not null,
  unpriced_tokens double precision not null,
  primary key (test_id, day)
) with (fillfactor = 50);

-- What a project pays, where that differs from the prices that come with the service. Per million tokens.
create table judge_prices (
  project_id uuid not null references projects on delete cascade,
  model text not null,
  valid_from date not null,
  input_usd double precision not null check (input_usd >= 0),
  output_usd double precision not null check (output_usd >= 0),
  primary key (project_id, model, valid_from)
);

-- A run that waits for the judge is 'running' without a lease, until `next_try_at`; `detail` holds what is known.
alter table runs
  add column next_try_at timestamptz,
  -- When the judge is given up on.
  add column judge_deadline_at timestamptz,
  -- How often the judge was asked in vain, and what it said last.
  add column judge_tries integer not null default 0,
  add column waiting_reason text,
  -- Why there is this run: new content, or somebody asked for what an outage skipped to be judged again.
  add column cause text not null default 'traffic' check (cause in ('traffic', 'again')),
  -- Whether an outage skipped something here that no later run of the trace has judged.
  add column outage_open boolean not null default false;
-- By their times alone, which only runs that wait, or that somebody holds, have: however many wait, neither is looked
-- for among the others that run.
create index runs_waiting on runs (next_try_at) where next_try_at is not null;
drop index runs_leased;
create index runs_leased on runs (lease_until) where lease_until is not null;
create index runs_outage on runs (agent_id, trace_id desc) where outage_open;

create or replace function delete_what_hangs_on_traces() returns trigger language plpgsql as $$
begin
  delete from trace_batches using gone where trace_batches.trace_id = gone.id;
  delete from runs using gone where runs.trace_id = gone.id;
  delete from judge_calls using gone where judge_calls.trace_id = gone.id;
  return null;
end
$$;
