-- Who made a key: unknown for those from before, and once the account is gone.
alter table keys add column created_by text references accounts on delete set null;
create index keys_maker on keys (created_by);
