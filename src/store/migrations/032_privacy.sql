-- What a project redacts before it is stored: null for nothing. Every change raises the revision.
alter table projects add column privacy jsonb;
alter table projects add column privacy_revision integer not null default 0;
-- That of the key's project: statements that store lock the key, and so compare the revision without a further lock.
alter table keys add column privacy_revision integer not null default 0;

-- Keys of pseudonyms, encrypted. Former ones are kept to find what is to be erased, and for nothing else.
create table pseudonym_keys (
  project_id uuid not null references projects on delete cascade,
  id uuid not null,
  sealed bytea not null,
  created_at timestamptz not null default now(),
  replaced_at timestamptz,
  primary key (project_id, id)
);
create unique index pseudonym_keys_present on pseudonym_keys (project_id) where replaced_at is null;

-- What was redacted in a batch, with the revision of the rules: compressed JSON; null for nothing.
alter table trace_batches add column redactions bytea;
alter table waiting_records add column redactions bytea;
