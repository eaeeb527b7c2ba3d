-- Personal access tokens; launches, the manual runs they are made of, and the traces those wait for.

-- Only a hash of a token is kept.
create table access_tokens (
  id uuid primary key,
  account_id text not null references accounts on delete cascade,
  name text not null,
  hash bytea not null unique,
  last_four text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz
);
create index access_tokens_account on access_tokens (account_id, id desc);

-- One press of Run. Its state follows those of its runs, in the transactions that change them.
create table launches (
  id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  created_at timestamptz not null default now(),
  -- The account's id; it stays when the account is gone.
  created_by text,
  source text not null check (source in ('dashboard', 'api', 'cli')),
  state text not null check (state in ('queued', 'running', 'completed', 'cancelled')),
  cancel_requested_at timestamptz,
  test_count integer not null,
  finished_at timestamptz
);
create index launches_newest on launches (agent_id, id desc);

-- A manual run is a row of `runs` that has no trace before its first turn has ended. It goes with its launch; once it
-- has a trace it goes with that too. `test` is the test case as JSON, with its version, as it was when the run was made.
alter table runs alter column trace_id drop not null;
alter table runs add column launch_id uuid references launches on delete cascade;
alter table runs add column test_id uuid;
alter table runs add column test text;
-- A hash of what the test asks and expects: runs with the same are of one version of it.
alter table runs add column test_digest bytea;
-- When its first request was about to leave: from then on the run is never begun again.
alter table runs add column sent_at timestamptz;
alter table runs drop constraint runs_state_check;
alter table runs add constraint runs_state_check
  check (state in ('pending', 'running', 'completed', 'error', 'cancelled'));
alter table runs add constraint runs_of_a_kind
  check (case kind when 'manual' then launch_id is not null and test_id is not null else trace_id is not null end)
  not valid;
create index runs_launch on runs (launch_id, id) where launch_id is not null;
create index runs_manual_test on runs (test_id, id desc) where kind = 'manual';
create index runs_manual_version on runs (test_id, test_digest, id desc) where kind = 'manual' and state = 'completed';
-- Neither of those that wait to be claimed is looked for among the other, however many there are.
drop index runs_due;
create index runs_due on runs (due_at) where state = 'pending' and kind <> 'manual';
create index runs_manual_open on runs (agent_id, id) where kind = 'manual' and state in ('pending', 'running');

-- What was asked and answered, turn by turn; JSON text, because what agents say may hold what jsonb refuses.
create table run_turns (
  run_id uuid not null references runs on delete cascade,
  turn integer not null,
  trace_id uuid,
  document text not null,
  primary key (run_id, turn)
);
create index run_turns_trace on run_turns (trace_id) where trace_id is not null;

-- The identities under which the agent may send the trace of a turn. Noted before the request leaves, dropped after a
-- day. What is stored under one of them is a test run's, and nothing is scheduled for it.
create table expected_traces (
  agent_id uuid not null references agents on delete cascade,
  external_id text not null,
  run_id uuid not null,
  turn integer not null,
  created_at timestamptz not null default now(),
  primary key (agent_id, external_id)
);
create index expected_traces_age on expected_traces (created_at);
