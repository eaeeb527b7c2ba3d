-- What is to be forgotten, and when: stored by agents that forget content.

-- `subject_id`: a trace, or a manual run, whose turns have replies before they have traces.
create table content_deadlines (
  agent_id uuid not null references agents on delete cascade,
  subject_id uuid not null,
  -- Seconds from the end of the last evaluation: the shortest time under which something of it was stored.
  after_s integer not null,
  -- When to look whether it is due. A process that works on it moves this on: that is its lease.
  check_at timestamptz not null,
  primary key (agent_id, subject_id)
);
create index content_deadlines_check on content_deadlines (check_at);

create function delete_content_deadlines() returns trigger language plpgsql as $$
begin
  delete from content_deadlines d using gone where d.agent_id = gone.agent_id and d.subject_id = gone.id;
  return null;
end
$$;
create trigger traces_deleted_deadlines after delete on traces referencing old table as gone
  for each statement execute function delete_content_deadlines();
