-- The latest prompt of which a judge's server counted far fewer tokens than were sent: it may cut prompts to its context.
alter table judge_states
  add column low_count_at timestamptz,
  add column low_count_counted integer,
  add column low_count_sent integer;

-- Checks that the judge could not decide can be labeled, too; then it neither agrees nor disagrees.
alter table labels
  drop constraint labels_judged_check,
  add constraint labels_judged_check
    check (judged in ('pass', 'fail', 'undecided', 'match', 'unsure', 'no_match')),
  alter column agrees drop not null;
