-- Alerts: which tests are failing on live traffic, and what their owners are told by email and webhook.

-- `traces`, `runs` and `failures` are parallel arrays: the test's latest results that passed or failed, in the order in
-- which their traces arrived, which is that of the traces' ids, each with the run that it is from. At most 32, as many
-- runs as a worker claims at once. Half of each page is left free, since the row changes with every evaluation.
create table test_states (
  test_id uuid primary key references test_cases on delete cascade,
  state text not null default 'fine' check (state in ('fine', 'failing')),
  -- The first and the last of the three traces that led to the state, and when the first arrived. Null: none has.
  since timestamptz,
  first_trace_id uuid,
  last_trace_id uuid,
  traces uuid[] not null default '{}',
  runs uuid[] not null default '{}',
  failures boolean[] not null default '{}'
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

-- `secret` is encrypted, bound to the agent.
create table alert_webhooks (
  agent_id uuid primary key references agents on delete cascade,
  url text not null,
  secret bytea not null,
  created_at timestamptz not null default now()
);

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

-- Accounts that turned email alerts off.
create table alert_opt_outs (
  account_id text primary key references accounts on delete cascade,
  created_at timestamptz not null default now()
);

-- Adds results of a test, sorted by trace, and returns how often they changed its state. A failure of null is a result
-- that counts neither way. Of a trace, the result of its latest run counts; run ids are in the order of the runs.
-- A state is left by three equal results in a row whose last trace arrived after the one that led to the state: late
-- results of earlier traces never bring an old state back.
create function add_test_results(for_test uuid, new_traces uuid[], new_runs uuid[], new_failures boolean[])
returns integer language plpgsql as $$
declare
  kept_max constant integer := 32;
  known test_states;
  -- Not the fields of `known`: appending to a field copies the array.
  kept_traces uuid[];
  kept_runs uuid[];
  kept_failures boolean[];
  size integer;
  place integer;
  -- The first place that is new or different.
  touched integer := 1000000;
  changes integer := 0;
begin
  select * into known from test_states where test_id = for_test for update;
  if known.test_id is null then
    -- The state of a test is forgotten once it evaluates no traffic: runs that began before must not bring it back.
    insert into test_states (test_id) select id from test_cases
      where id = for_test and status = 'active' and passive_behavior <> 'manual_only' and turn_count = 1
      on conflict do nothing;
    select * into known from test_states where test_id = for_test for update;
    if known.test_id is null then return 0; end if;
  end if;
  kept_traces := known.traces;
  kept_runs := known.runs;
  kept_failures := known.failures;
  for item in 1 .. cardinality(new_traces) loop
    size := cardinality(kept_traces);
    if size = 0 or new_traces[item] > kept_traces[size] then
      if new_failures[item] is not null then
        kept_traces := kept_traces || new_traces[item];
        kept_runs := kept_runs || new_runs[item];
        kept_failures := kept_failures || new_failures[item];
        touched := least(touched, size + 1);
      end if;
      continue;
    end if;
    place := array_position(kept_traces, new_traces[item]);
    if place is not null then
      if kept_runs[place] > new_runs[item] then
        continue;
      elsif new_failures[item] is null then
        kept_traces := kept_traces[:place - 1] || kept_traces[place + 1:];
        kept_runs := kept_runs[:place - 1] || kept_runs[place + 1:];
        kept_failures := kept_failures[:place - 1] || kept_failures[place + 1:];
      else
        kept_runs[place] := new_runs[item];
        kept_failures[place] := new_failures[item];
      end if;
      touched := least(touched, place);
    elsif new_failures[item] is not null then
      place := size - 1;
      while place > 0 and kept_traces[place] > new_traces[item] loop place := place - 1; end loop;
      if place > 0 or size < kept_max then
        kept_traces := kept_traces[:place] || new_traces[item] || kept_traces[place + 1:];
        kept_runs := kept_runs[:place] || new_runs[item] || kept_runs[place + 1:];
        kept_failures := kept_failures[:place] || new_failures[item] || kept_failures[place + 1:];
        touched := least(touched, place + 1);
      end if;
    end if;
  end loop;
  size := cardinality(kept_traces);
  if known.state = 'failing' or true = any (kept_failures) then
    for item in greatest(touched, 3) .. size loop
      if kept_failures[item] <> (known.state = 'failing')
        and kept_failures[item - 1] = kept_failures[item] and kept_failures[item - 2] = kept_failures[item]
        and (known.last_trace_id is null or kept_traces[item] > known.last_trace_id)
      then
        known.state := case when kept_failures[item] then 'failing' else 'fine' end;
        known.first_trace_id := kept_traces[item - 2];
        known.last_trace_id := kept_traces[item];
        -- The first 48 bits of a UUIDv7 are the milliseconds of its creation.
        known.since := to_timestamp(('x' || lpad(left(replace(known.first_trace_id::text, '-', ''), 12), 16, '0'))
          ::bit(64)::bigint / 1000.0);
        insert into test_state_changes (agent_id, test_id, state)
          select agent_id, id, known.state from test_cases where id = for_test;
        changes := changes + 1;
      end if;
    end loop;
  end if;
  if size > kept_max then
    kept_traces := kept_traces[size - kept_max + 1:];
    kept_runs := kept_runs[size - kept_max + 1:];
    kept_failures := kept_failures[size - kept_max + 1:];
  end if;
  if touched <= size or size < cardinality(known.traces) then
    update test_states set state = known.state, since = known.since, first_trace_id = known.first_trace_id,
      last_trace_id = known.last_trace_id, traces = kept_traces, runs = kept_runs, failures = kept_failures
      where test_id = for_test;
  end if;
  return changes;
end
$$;
