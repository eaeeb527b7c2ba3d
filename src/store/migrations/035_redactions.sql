-- The revision of the project's privacy settings moves from its keys to its agents: statements that store lock the agent,
-- also those without a key.
alter table keys drop column privacy_revision;
alter table agents add column privacy_revision integer not null default 0;
update agents set privacy_revision = p.privacy_revision from projects p where p.id = agents.project_id and p.privacy_revision > 0;

-- Values that redaction changed, by rule and hour of arrival.
create table redaction_hours (
  agent_id uuid not null references agents on delete cascade,
  hour timestamptz not null,
  rule text not null,
  count bigint not null,
  primary key (agent_id, hour, rule)
);
