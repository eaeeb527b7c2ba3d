-- Tests with several inputs and repeats, and the runs of a launch per test, input and repeat.

-- The inputs of a test, as a JSON list of texts. Not in `document`, which every evaluation of a live trace reads.
alter table test_cases add column inputs text;
alter table test_cases add column input_count smallint not null default 0;

-- Null in launches from before: one run per test.
alter table launches add column run_count integer;

-- Each test of a launch once, as it was then, and each of its inputs once: a run refers to them. `document` is JSON with
-- the test's version, without inputs. Runs from before have their test in `runs.test`.
create table launch_tests (
  launch_id uuid not null references launches on delete cascade,
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
  primary key (launch_id, test_id)
);

-- `input` is JSON text, because inputs may contain what a text column refuses.
create table launch_inputs (
  launch_id uuid not null references launches on delete cascade,
  test_id uuid not null,
  row smallint not null,
  input text not null,
  digest bytea not null,
  primary key (launch_id, test_id, row)
);

-- Both count from 1, and are null without inputs or repeats. `input_digest`: runs of a test with the same input are
-- compared; empty without inputs.
alter table runs add column test_row smallint;
alter table runs add column test_repeat smallint;
alter table runs add column input_digest bytea not null default '';

-- The columns after `id` answer counts from the index alone.
drop index runs_launch;
create index runs_launch on runs (launch_id, id)
  include (test_id, test_row, input_digest, state, verdict, outage_open) where launch_id is not null;
-- Whether a launch has ended, without counting its runs.
create index runs_launch_open on runs (launch_id)
  where launch_id is not null and state in ('pending', 'running') and verdict is null;
-- The previous launch with a result of the same test and input.
create index runs_manual_input on runs (test_id, input_digest, launch_id desc, verdict)
  where kind = 'manual' and state = 'completed' and verdict <> 'skipped';
