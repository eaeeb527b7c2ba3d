-- What people say about the judge's answers, and where a failed result stands.

-- One per check or scenario match of a run. `question` is what the judge was asked, as zstd-compressed JSON; null if the
-- trace had changed by the time of the label. It quotes the trace, so the label goes with it.
create table labels (
  id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  test_id uuid not null references test_cases on delete cascade,
  trace_id uuid not null references traces on delete cascade,
  run_id uuid not null,
  -- The assertion's id; null: the scenario match.
  check_id text,
  -- What the judge said, and what the person says.
  judged text not null check (judged in ('pass', 'fail', 'match', 'unsure', 'no_match')),
  answer text not null check (answer in ('pass', 'fail', 'match', 'no_match')),
  agrees boolean not null,
  note text not null,
  test_version integer,
  -- Null for results from before the provider was kept.
  provider text,
  model text not null,
  prompt_version text not null,
  question bytea,
  -- The account's id; it stays when the account is gone.
  created_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique nulls not distinct (run_id, test_id, check_id)
);
alter table labels alter column question set storage external;
create index labels_agent on labels (agent_id, id desc);
create index labels_test on labels (test_id, id desc);
create index labels_trace on labels (trace_id);
