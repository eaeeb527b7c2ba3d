-- The service creates every id, because PostgreSQL has uuidv7() from version 18 on only. Databases from before still have it
-- as a default, and a dump of such a database could not be restored on an older server.
alter table projects alter column id drop default;
alter table agents alter column id drop default;
alter table keys alter column id drop default;
alter table test_cases alter column id drop default;
alter table access_tokens alter column id drop default;

-- The UUIDv7 of this time whose other bits are those of `rest`; without it, the lowest id of this time.
create function id_at(instant timestamptz, rest uuid default '00000000-0000-0000-0000-000000000000') returns uuid
language sql stable parallel safe
return (
  lpad(to_hex(floor(extract(epoch from instant) * 1000)::bigint), 12, '0') || right(replace(rest::text, '-', ''), 20)
)::uuid;
