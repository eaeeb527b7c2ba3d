-- How long a project keeps its traces, and which process deletes older ones.

-- Days since the trace arrived, which its id says; null: until somebody deletes it.
alter table projects add column retention_days integer check (retention_days between 1 and 3650);

-- Work in the background that one process at a time does: who, and until when unless it is extended.
create table leases (
  name text primary key,
  holder uuid not null,
  held_until timestamptz not null
);
