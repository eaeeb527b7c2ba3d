-- Where a failed result stands: open, unless somebody says otherwise.

-- The failed test of a trace. A later evaluation that fails the same test keeps its state.
create table result_states (
  agent_id uuid not null references agents on delete cascade,
  trace_id uuid not null references traces on delete cascade,
  test_id uuid not null references test_cases on delete cascade,
  state text not null check (state in ('open', 'known', 'resolved')),
  note text not null,
  -- The account's id; it stays when the account is gone.
  updated_by text,
  updated_at timestamptz not null default now(),
  primary key (agent_id, trace_id, test_id)
);
create index result_states_trace on result_states (trace_id);
create index result_states_test on result_states (test_id);

-- The tests that failed; null for runs from before, until a result of theirs gets a state.
alter table runs add column failed_test_ids uuid[];
