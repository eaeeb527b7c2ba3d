-- What a judge answered about a trace goes with that trace, even where others may ask the same: answers quote it. Null
-- where no stored trace was judged, and for answers from before.
alter table judge_answers add column trace_id uuid;
create index judge_answers_trace on judge_answers (trace_id) where trace_id is not null;

create or replace function delete_what_hangs_on_traces() returns trigger language plpgsql as $$
begin
  delete from trace_batches using gone where trace_batches.trace_id = gone.id;
  delete from runs using gone where runs.trace_id = gone.id;
  delete from judge_calls using gone where judge_calls.trace_id = gone.id;
  delete from judge_answers using gone where judge_answers.trace_id = gone.id;
  return null;
end
$$;
