-- Where privacy rules changed the texts that lists show of a trace.

-- JSON; null: nothing was redacted, or the trace is from before, and `backfills` has not come to it.
alter table traces add column text_redactions text;

-- Older traces with redactions are read again for it.
insert into backfills (name, below)
  select 'trace_values', id_at(now() + interval '10 minutes') where exists (select from redaction_hours limit 1)
  on conflict (name) do update set below = excluded.below, lease_until = now();
