-- A reply that is longer than what its turn's document keeps, as zstd-compressed text: a run that waits for the judge, or
-- is judged again, is judged by all of it.
alter table run_turns add column reply bytea;
