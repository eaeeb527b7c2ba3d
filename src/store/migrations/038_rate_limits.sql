-- How many requests a minute a key and a project may send; null: as many as they like.
alter table keys add column requests_per_minute integer check (requests_per_minute between 1 and 1000000);
alter table projects add column requests_per_minute integer check (requests_per_minute between 1 and 1000000);
