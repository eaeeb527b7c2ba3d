-- What is done with traces: launches, runs and their results, the judge's calls and costs, counts by the hour, alerts.

-- One press of Run. Its state follows those of its runs, in the transactions that change them.
create table launches (
  id uuid not null,
  agent_id uuid not null references agents on delete cascade,
  created_at timestamptz not null default now(),
  -- The account's id; it stays when the account is gone.
  created_by text,
  source text not null check (source in ('dashboard', 'api', 'cli')),
  state text not null check (state in ('queued', 'running', 'completed', 'cancelled')),
  cancel_requested_at timestamptz,
  test_count integer not null,
  finished_at timestamptz,
  run_count integer not null,
  primary key (agent_id, id)
);
create index launches_id on launches (id);
create trigger launches_deleted after delete on launches referencing old table as gone
  for each statement execute function delete_queue_of_launches();

-- Each test of a launch once, as it was then, and each of its inputs once: a run refers to them. `document` is JSON with
-- the test's version, without inputs.
create table launch_tests (
  agent_id uuid not null,
  launch_id uuid not null,
  test_id uuid not null,
  place integer not null,
  name text not null,
  version integer not null,
  document text not null,
  turn_count smallint not null,
  input_count smallint not null,
  repeats smallint not null,
  -- Of what is asked and expected, without inputs.
  digest bytea not null,
  primary key (agent_id, launch_id, test_id),
  constraint launch_tests_launch_fkey foreign key (agent_id, launch_id) references launches on delete cascade
);

-- `input` is JSON text, because inputs may contain what a text column refuses.
create table launch_inputs (
  agent_id uuid not null,
  launch_id uuid not null,
  test_id uuid not null,
  row smallint not null,
  input text not null,
  digest bytea not null,
  primary key (agent_id, launch_id, test_id, row),
  constraint launch_inputs_launch_fkey foreign key (agent_id, launch_id) references launches on delete cascade
);

-- What is to be done: a row for each run that has not ended. It is inserted with the batch or the launch that needs it, and
-- deleted in the transaction that writes the run (docs/decisions/056-one-queue.md). A passive run is of a trace, and goes with
-- it; a manual run goes with its launch. The row of a manual run that has ended means that it is evaluated again.
create table queue (
  id uuid not null,
  agent_id uuid not null,
  kind text not null default 'passive' check (kind in ('passive', 'manual')),
  trace_id uuid,
  -- 'running' from its first claim on, also while it waits for the judge.
  state text not null default 'pending' check (state in ('pending', 'running')),
  -- Why there is this run: new content, or somebody asked for what an outage skipped to be judged again.
  cause text not null default 'traffic' check (cause in ('traffic', 'again')),
  first_batch_at timestamptz not null default now(),
  due_at timestamptz not null,
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  started_at timestamptz,
  -- Of the worker that has it.
  lease uuid,
  lease_until timestamptz,
  -- While it waits for the judge: when it is asked again, and what it said last.
  next_try_at timestamptz,
  waiting_reason text,
  -- When the judge is given up on, and how often it was asked in vain.
  judge_deadline_at timestamptz,
  judge_tries integer not null default 0,
  -- What is known: the tests to continue with, partial results. As `runs.detail`.
  detail bytea,
  -- Of manual runs, as in `runs`. `sent_at`: when the first request was about to leave: from then on it is never begun again.
  launch_id uuid,
  test_id uuid,
  test_digest bytea,
  test_row smallint,
  test_repeat smallint,
  input_digest bytea not null default '',
  sent_at timestamptz,
  -- What it waits for, and until when: claims look at nothing else.
  lane text collate "C" not null generated always as (
    kind || case when lease_until is not null then ' leased' when next_try_at is not null then ' waiting' else ' due' end
  ) stored,
  next_at timestamptz not null generated always as (coalesce(lease_until, next_try_at, due_at)) stored,
  primary key (id, agent_id),
  constraint queue_of_a_kind
    check (case kind when 'manual' then launch_id is not null and test_id is not null else trace_id is not null end)
) with (autovacuum_vacuum_scale_factor = 0.02, vacuum_truncate = off);
alter table queue alter column detail set storage external;
create index queue_next on queue (lane, next_at);
-- A claim skips the backlog of an agent at its limit (docs/decisions/026-shares-of-computation.md).
create index queue_by_agent on queue (lane, agent_id, next_at, id) where lease_until is null;
-- A trace has one pending run at most. Also in the order of lists.
create unique index queue_trace on queue (agent_id, state, trace_id, (case when state <> 'pending' then id end))
  nulls not distinct where trace_id is not null;
create index queue_launch on queue (launch_id, id) where launch_id is not null;
create index queue_test on queue (test_id, id) where test_id is not null;

-- A run is written when it has ended. A passive run goes with its trace, a manual one with its launch and with each trace of
-- its turns.
create table runs (
  id uuid not null,
  trace_id uuid,
  agent_id uuid not null,
  kind text not null check (kind in ('passive', 'manual')),
  state text not null check (state in ('completed', 'error', 'cancelled')),
  due_at timestamptz not null,
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  started_at timestamptz,
  finished_at timestamptz,
  -- The trace's revision that was judged.
  revision integer,
  routing text,
  verdict text,
  score double precision,
  passed integer,
  failed integer,
  skipped integer,
  missing_instrumentation integer,
  test_ids uuid[],
  failed_test_ids uuid[],
  -- Parallel to `test_ids`: a character for each outcome (p, f, s, m; a capital where the result is not fully evaluated), and
  -- the version of each test.
  test_outcomes text,
  test_versions integer[],
  -- Results and applicability, zstd-compressed JSON.
  detail bytea,
  error text,
  -- Why there is this run: new content, or somebody asked for what an outage skipped to be judged again.
  cause text not null default 'traffic' check (cause in ('traffic', 'again')),
  -- Whether an outage skipped something here that no later run of the trace has judged.
  outage_open boolean not null default false,
  -- False: a result of it is not, or a test was left out because its scenario could not be matched.
  fully_evaluated boolean not null default true,
  launch_id uuid,
  test_id uuid,
  -- A hash of what the test asks and expects: runs with the same are of one version of it.
  test_digest bytea,
  -- Both count from 1, and are null without inputs or repeats.
  test_row smallint,
  test_repeat smallint,
  -- Runs of a test with the same input are compared; empty without inputs.
  input_digest bytea not null default '',
  primary key (id, agent_id),
  constraint runs_of_a_kind
    check (case kind when 'manual' then launch_id is not null and test_id is not null else trace_id is not null end),
  constraint runs_launch_fkey foreign key (agent_id, launch_id) references launches on delete cascade
) with (toast_tuple_target = 8160);
alter table runs alter column detail set storage external;
create trigger runs_deleted after delete on runs referencing old table as gone
  for each statement execute function delete_what_hangs_on_runs();

create index runs_trace on runs (trace_id, id desc);
-- In the order of lists, which is that of traces.
create index runs_agent on runs (agent_id, id desc) where state = 'completed';
create index runs_verdict on runs (agent_id, verdict, trace_id desc) where state = 'completed';
create index runs_routing on runs (agent_id, routing, trace_id desc)
  where state = 'completed' and routing in ('no_user_input', 'unavailable');
create index runs_without_results on runs (agent_id, state, trace_id desc) where state <> 'completed';
create index runs_outage on runs (agent_id, trace_id desc) where outage_open;
-- The columns after `id` answer counts from the index alone.
create index runs_launch on runs (launch_id, id)
  include (test_id, test_row, input_digest, state, verdict, fully_evaluated, outage_open) where launch_id is not null;
create index runs_manual_test on runs (test_id, id desc) where kind = 'manual';
create index runs_manual_version on runs (test_id, test_digest, id desc) where kind = 'manual' and state = 'completed';
-- The previous launch with a fully evaluated result of the same test and input.
create index runs_manual_input on runs (test_id, input_digest, launch_id desc, verdict)
  where kind = 'manual' and state = 'completed' and verdict <> 'skipped' and fully_evaluated;

-- What was asked and answered, turn by turn; JSON text, because what agents say may hold what jsonb refuses.
create table run_turns (
  agent_id uuid not null,
  run_id uuid not null,
  turn integer not null,
  trace_id uuid,
  document text not null,
  -- The revision of the trace that was evaluated; null until then.
  revision integer,
  -- How long the trace was waited for after the reply; null: not at all.
  waited_ms integer,
  -- The message as privacy rules changed it, as JSON; null: they changed nothing, or no content is stored.
  sent text,
  -- A reply that is longer than what `document` keeps, as zstd-compressed text: a run that waits for the judge, or is judged
  -- again, is judged by all of it.
  reply bytea,
  primary key (agent_id, run_id, turn)
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

-- Backtests: a test case tried on past traces in the background. While one runs, its process extends the lease; one whose
-- lease has expired was interrupted.
create table backtests (
  id uuid not null,
  agent_id uuid not null references agents on delete cascade,
  -- The saved test whose results it is compared with; null: the test is not saved.
  test_id uuid references test_cases on delete cascade,
  -- The document that was tried, as JSON, and the saved version that it equals; null: a draft.
  test text not null,
  test_version integer,
  -- The traces that the test was drafted from: an erasure of one of them deletes the backtest.
  drafted_from uuid[] not null default '{}',
  created_at timestamptz not null default now(),
  -- Whether the user confirmed the cost of the judge.
  judged boolean not null,
  state text not null check (state in ('running', 'completed', 'cancelled', 'interrupted', 'error')),
  lease_until timestamptz not null,
  finished_at timestamptz,
  error text,
  calls integer not null default 0,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_usd double precision not null default 0,
  -- Tokens of calls whose price is not known; `cost_usd` excludes them.
  unpriced_tokens bigint not null default 0,
  primary key (agent_id, id)
);
create index backtests_id on backtests (id);
create unique index backtests_one_running on backtests (agent_id) where state = 'running';
create index backtests_test on backtests (test_id) where test_id is not null;

-- One row per trace, inserted when the backtest starts; `change` is null until the trace was tried. They quote the trace, so
-- they are deleted with it.
create table backtest_results (
  agent_id uuid not null,
  backtest_id uuid not null,
  trace_id uuid not null,
  -- Outcomes: of the latest stored result if it is fully evaluated, and now. Null: none.
  before text,
  before_version integer,
  after text,
  change text check (change in ('broke', 'fixed', 'changed', 'other_cause', 'new', 'same', 'none')),
  -- Of 'other_cause': what differs beside the test.
  cause text check (cause in ('content', 'judge', 'prompt')),
  reason text,
  check_id text,
  check_type text,
  primary key (agent_id, backtest_id, trace_id),
  constraint backtest_results_backtest_fkey foreign key (agent_id, backtest_id) references backtests on delete cascade
);
create index backtest_results_trace on backtest_results (trace_id);

-- What is known of a judge's connection, by a hash of all that decides how it answers: one that is edited is another one.
create table judge_states (
  fingerprint bytea primary key,
  -- How it takes the shape of an answer; null: not known yet.
  mode text check (mode in ('json_schema', 'tool', 'json_object', 'text')),
  tested_at timestamptz,
  -- Why it is not asked until it is edited or tested with success: it refused the key, or knows no such model.
  paused_reason text,
  paused_at timestamptz,
  -- False: the model takes its instructions in the user's message only.
  system_role boolean not null default true,
  temperature boolean not null default true,
  -- Until when the server asked not to be called, and what it said.
  wait_until timestamptz,
  wait_reason text,
  -- The latest prompt of which the server counted far fewer tokens than were sent: it may cut prompts to its context.
  low_count_at timestamptz,
  low_count_counted integer,
  low_count_sent integer
);

-- Sound answers by a hash of everything that they depend on, the project included. An answer about a stored trace goes with
-- that trace, even where others may ask the same: answers quote it.
create table judge_answers (
  agent_id uuid not null,
  key bytea not null,
  project_id uuid not null references projects on delete cascade,
  answer text not null,
  made_at timestamptz not null default now(),
  trace_id uuid,
  primary key (agent_id, key)
);
create index judge_answers_project on judge_answers (project_id);
create index judge_answers_made on judge_answers (made_at);
create index judge_answers_trace on judge_answers (trace_id) where trace_id is not null;

-- Every call, with what was sent and what came back. A call made while somebody tried something out has no run.
create table judge_calls (
  id uuid not null,
  agent_id uuid not null references agents on delete cascade,
  trace_id uuid,
  run_id uuid,
  started_at timestamptz not null,
  -- "classify" asks what a criterion rests on.
  kind text not null check (kind in ('route', 'semantic', 'classify')),
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
  detail bytea not null,
  -- The server reported no usage, so the tokens are an estimate.
  tokens_estimated boolean not null default false,
  primary key (id, agent_id)
);
alter table judge_calls alter column detail set storage external;
create index judge_calls_run on judge_calls (run_id, id);
create index judge_calls_trace on judge_calls (trace_id);
create index judge_calls_agent on judge_calls (agent_id, id desc);

-- Counts by the hour and day (UTC), kept by the transactions that complete runs and store calls. Their rows are written
-- again and again: half of each page is left free for that.
create table judge_days (
  agent_id uuid not null references agents on delete cascade,
  day date not null,
  calls integer not null,
  -- Questions that needed no call.
  cached integer not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cost_usd double precision not null,
  -- Of calls whose price is not known, which `cost_usd` leaves out.
  unpriced_tokens bigint not null,
  estimated_tokens bigint not null default 0,
  primary key (agent_id, day)
) with (fillfactor = 50);

-- The same, shared among the tests that a call asked about, by their parts of its questions.
create table judge_test_days (
  agent_id uuid not null,
  test_id uuid not null,
  day date not null,
  input_tokens double precision not null,
  output_tokens double precision not null,
  cost_usd double precision not null,
  unpriced_tokens double precision not null,
  estimated_tokens double precision not null default 0,
  primary key (agent_id, test_id, day),
  constraint judge_test_days_test_fkey
    foreign key (agent_id, test_id) references test_cases (agent_id, id) on delete cascade
) with (fillfactor = 50);

-- An hour is that of the run's creation: the traffic's own, however late it was judged. Runs are counted, not traces: a
-- trace that is judged again counts again.
create table agent_hours (
  agent_id uuid not null references agents on delete cascade,
  hour timestamptz not null,
  -- Fully evaluated ones by their verdicts; one without a verdict, because no test applied, is in `runs` alone.
  runs integer not null,
  passed integer not null,
  failed integer not null,
  skipped integer not null,
  missing_instrumentation integer not null,
  routing_unavailable integer not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  -- How many durations fell into each bucket of model/histogram.ts.
  durations integer[] not null,
  not_fully_evaluated integer not null default 0,
  primary key (agent_id, hour)
) with (fillfactor = 50);

-- The tokens of evaluated traces by model, in the hour in which they were received. Empty texts: not known.
create table model_hours (
  agent_id uuid not null references agents on delete cascade,
  hour timestamptz not null,
  provider text not null,
  model text not null,
  -- Prompts have more tokens than this.
  prompt_above integer not null,
  calls bigint not null,
  -- Calls that say nothing of their tokens.
  unmeasured bigint not null,
  input_tokens bigint not null,
  cached_tokens bigint not null,
  cache_write_tokens bigint not null,
  output_tokens bigint not null,
  primary key (agent_id, hour, provider, model, prompt_above)
) with (fillfactor = 50);

-- By outcome those results that are fully evaluated.
create table test_hours (
  agent_id uuid not null,
  test_id uuid not null,
  hour timestamptz not null,
  passed integer not null,
  failed integer not null,
  skipped integer not null,
  missing_instrumentation integer not null,
  last_run_at timestamptz not null,
  last_outcome text not null,
  last_fully_evaluated boolean not null default true,
  not_fully_evaluated integer not null default 0,
  primary key (agent_id, test_id, hour),
  constraint test_hours_test_fkey foreign key (agent_id, test_id) references test_cases (agent_id, id) on delete cascade
) with (fillfactor = 50);

-- `check_id` is the id of the assertion.
create table check_hours (
  agent_id uuid not null,
  test_id uuid not null,
  check_id text not null,
  hour timestamptz not null,
  passed integer not null,
  failed integer not null,
  skipped integer not null,
  missing_instrumentation integer not null,
  -- Of the test; 0: not known.
  version integer not null default 1,
  primary key (agent_id, test_id, check_id, hour, version),
  constraint check_hours_test_fkey foreign key (agent_id, test_id) references test_cases (agent_id, id) on delete cascade
) with (fillfactor = 50);

-- Results of live traffic by version of the test, counted like test_hours.
create table test_versions (
  agent_id uuid not null,
  test_id uuid not null,
  version integer not null,
  passed integer not null,
  failed integer not null,
  skipped integer not null,
  missing_instrumentation integer not null,
  first_run_at timestamptz not null,
  last_run_at timestamptz not null,
  not_fully_evaluated integer not null default 0,
  primary key (agent_id, test_id, version),
  constraint test_versions_test_fkey foreign key (agent_id, test_id) references test_cases (agent_id, id) on delete cascade
) with (fillfactor = 50);

-- What people say about the judge's answers: one label per check or scenario match of a run. `question` is what the judge
-- was asked, as zstd-compressed JSON; null if the trace had changed by the time of the label. It quotes the trace, so the
-- label goes with it.
create table labels (
  id uuid not null,
  agent_id uuid not null references agents on delete cascade,
  test_id uuid not null references test_cases on delete cascade,
  trace_id uuid not null,
  run_id uuid not null,
  -- The assertion's id; null: the scenario match.
  check_id text,
  -- What the judge said, and what the person says.
  judged text not null check (judged in ('pass', 'fail', 'undecided', 'match', 'unsure', 'no_match')),
  answer text not null check (answer in ('pass', 'fail', 'match', 'no_match')),
  -- Null: the judge could not decide.
  agrees boolean,
  note text not null,
  test_version integer,
  provider text,
  model text not null,
  prompt_version text not null,
  question bytea,
  -- The same for each trace that the same answer of the judge is about: a hash of what it was asked. Null: of this run alone.
  answer_key text,
  -- The account's id; it stays when the account is gone.
  created_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (agent_id, id),
  constraint labels_of_result unique nulls not distinct (agent_id, run_id, test_id, check_id, created_by)
);
alter table labels alter column question set storage external;
create index labels_id on labels (id);
create index labels_test on labels (test_id, id desc);
create index labels_answer on labels (test_id, answer_key);
create index labels_trace on labels (trace_id);
create index labels_run on labels (run_id);

-- Where the failed test of a trace stands: open, unless somebody says otherwise. A later evaluation that fails the same
-- test keeps its state.
create table result_states (
  agent_id uuid not null references agents on delete cascade,
  trace_id uuid not null,
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

-- Alerts: which tests are failing on live traffic, and what their owners are told by email and webhook. `traces`, `runs` and
-- `failures` are parallel arrays: the test's latest results that passed or failed, in the order in which their traces
-- arrived, which is that of the traces' ids, each with the run that it is from. At most 32, as many runs as a worker claims
-- at once. Half of each page is left free, since the row changes with every evaluation.
create table test_states (
  agent_id uuid not null,
  test_id uuid not null,
  state text not null default 'fine' check (state in ('fine', 'failing')),
  -- The first and the last of the three traces that led to the state, and when the first arrived. Null: none has.
  since timestamptz,
  first_trace_id uuid,
  last_trace_id uuid,
  traces uuid[] not null default '{}',
  runs uuid[] not null default '{}',
  failures boolean[] not null default '{}',
  primary key (agent_id, test_id),
  constraint test_states_test_fkey foreign key (agent_id, test_id) references test_cases (agent_id, id) on delete cascade
) with (fillfactor = 50);

-- Changes of a state that nobody was told about yet.
create table test_state_changes (
  agent_id uuid not null references agents on delete cascade,
  id bigint generated always as identity,
  test_id uuid not null references test_cases on delete cascade,
  state text not null check (state in ('fine', 'failing')),
  primary key (agent_id, id)
);
create index test_state_changes_test on test_state_changes (test_id);

-- When the changes of an agent are due to be told; null: there are none.
create table alert_schedules (
  agent_id uuid primary key references agents on delete cascade,
  due_at timestamptz,
  sent_at timestamptz
);
create index alert_schedules_due on alert_schedules (due_at) where due_at is not null;

-- Messages to send. `body` is JSON. `next_try_at` is also the lease: a claim moves it, so that a delivery whose process
-- dies is tried again then.
create table alert_deliveries (
  id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  channel text not null check (channel in ('email', 'webhook')),
  kind text not null check (kind in ('alert', 'test')),
  body text not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  next_try_at timestamptz default now(),
  tried_at timestamptz,
  -- Of the last answer of a webhook.
  status integer,
  error text,
  created_at timestamptz not null default now()
);
create index alert_deliveries_due on alert_deliveries (next_try_at) where state = 'pending';
create index alert_deliveries_agent on alert_deliveries (agent_id, channel, id desc);
create index alert_deliveries_over on alert_deliveries (created_at) where state <> 'pending';

-- Work in the background that one process at a time does: who, and until when unless it is extended.
create table leases (
  name text primary key,
  holder uuid not null,
  held_until timestamptz not null
);
