-- Attempts to sign in, sign up and the like, counted for all nodes together.

-- `subject` is a hash of what the attempts have in common, such as the email and the client's IP address. A row counts
-- until `ends_at`.
create table attempts (
  kind text not null,
  subject bytea not null,
  count integer not null,
  ends_at timestamptz not null,
  primary key (kind, subject)
);
create index attempts_end on attempts (ends_at);
