-- The tracing conventions that an agent's traces are read by, beside the documented attributes.

-- Names of presets, in the order of the service's table, or {*}.
alter table agents add column conventions text[] not null default '{}';
-- How many traces the latest change left to be derived again; those with `derived_revision` 0 still are.
alter table agents add column rereading integer not null default 0;
create index agents_conventions on agents (project_id) where conventions <> '{}';
