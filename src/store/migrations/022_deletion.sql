-- Deleting a trace deletes everything that quotes it: also the manual run of which it is one turn, its judge calls, and
-- the tests and inputs that its launch kept for it.

-- A launch ends with its last open run.
create function end_launches(ids uuid[]) returns void language sql as $$
  update launches l set
      state = case when l.cancel_requested_at is not null then 'cancelled' else 'completed' end, finished_at = now()
    where l.id = any (ids) and l.state in ('queued', 'running') and not exists (
      select from runs r where r.launch_id = l.id and r.state in ('pending', 'running') and r.verdict is null
    )
$$;

-- The results, judge calls and answers of a manual run quote the traces of all its turns, so it is deleted with any of
-- them. A run without results keeps its row without turns; one that has not ended does so.
create function delete_turns_of(runs_of_turns uuid[]) returns void language plpgsql as $$
begin
  delete from judge_answers where trace_id in (select u.trace_id from run_turns u where u.run_id = any (runs_of_turns));
  delete from judge_calls where run_id = any (runs_of_turns);
  delete from runs where id = any (runs_of_turns) and verdict is not null;
  delete from run_turns where run_id = any (runs_of_turns);
  update runs set detail = null, lease = null, lease_until = null, next_try_at = null, waiting_reason = null,
      state = case when l.cancel_requested_at is null then 'error' else 'cancelled' end,
      error = case when l.cancel_requested_at is null then 'The trace of a turn was deleted during the run.' end,
      finished_at = now()
    from launches l
    where runs.id = any (runs_of_turns) and runs.state in ('pending', 'running') and l.id = runs.launch_id;
  perform end_launches(array(select distinct launch_id from runs where id = any (runs_of_turns)));
end
$$;

create or replace function delete_what_hangs_on_traces() returns trigger language plpgsql as $$
declare
  runs_of_turns uuid[] := array(select distinct u.run_id from run_turns u join gone on gone.id = u.trace_id);
begin
  delete from trace_batches using gone where trace_batches.trace_id = gone.id;
  delete from judge_calls using gone where judge_calls.trace_id = gone.id;
  delete from judge_answers using gone where judge_answers.trace_id = gone.id;
  if runs_of_turns <> '{}' then perform delete_turns_of(runs_of_turns); end if;
  delete from runs using gone where runs.trace_id = gone.id;
  return null;
end
$$;

-- A launch keeps no test and no input without a run. The order of locks, runs before their launches, is that of the
-- transactions that end runs.
create function delete_what_hangs_on_runs() returns trigger language plpgsql as $$
declare
  of_launches uuid[] := array(select distinct launch_id from gone where launch_id is not null);
begin
  if of_launches = '{}' then return null; end if;
  delete from judge_calls using gone where judge_calls.run_id = gone.id;
  delete from labels using gone where labels.run_id = gone.id;
  perform from launches where id = any (of_launches) order by id for update;
  delete from launch_inputs i using (
    select launch_id, test_id, test_row from gone where test_row is not null
    except select launch_id, test_id, test_row from runs where launch_id = any (of_launches)
  ) unused
    where i.launch_id = unused.launch_id and i.test_id = unused.test_id and i.row = unused.test_row;
  delete from launch_tests t using (
    select launch_id, test_id from gone except select launch_id, test_id from runs where launch_id = any (of_launches)
  ) unused
    where t.launch_id = unused.launch_id and t.test_id = unused.test_id;
  perform end_launches(of_launches);
  return null;
end
$$;
create trigger runs_deleted after delete on runs referencing old table as gone
  for each statement execute function delete_what_hangs_on_runs();

-- A reset link refers to its account by `value`, without a foreign key: the accounts library keeps other values there too.
create function delete_links_of_account() returns trigger language plpgsql as $$
begin
  delete from verifications where value = old.id;
  return null;
end
$$;
create trigger accounts_deleted after delete on accounts for each row execute function delete_links_of_account();

-- What earlier deletions left.
select delete_turns_of(array(
  select distinct run_id from run_turns u
  where u.trace_id is not null and not exists (select from traces t where t.id = u.trace_id)
));
delete from launch_inputs i where not exists (
  select from runs r where r.launch_id = i.launch_id and r.test_id = i.test_id and r.test_row = i.row
);
delete from launch_tests t where not exists (
  select from runs r where r.launch_id = t.launch_id and r.test_id = t.test_id
);
