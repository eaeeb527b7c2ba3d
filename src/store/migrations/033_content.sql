-- What is stored of an agent's traces: their content or not, for how long, and which attributes.
alter table agents
  add column content text not null default 'keep' check (content in ('keep', 'none', 'forget')),
  add column content_forget_after_s integer check (content_forget_after_s between 60 and 31536000),
  add column attributes_deny text[] not null default '{}',
  add column attributes_allow text[],
  -- The same for the same settings of what is stored, '' for everything: what statements compare.
  add column intake_key text not null default '';
drop index agents_read_by;
create index agents_prepared on agents (project_id, id) where read_by_key <> '' or intake_key <> '';

-- Null: the trace has its content. 'none': it was not stored, of one batch at least. 'forgotten': it was dropped then.
alter table traces
  add column content text check (content in ('none', 'forgotten')),
  add column content_forgotten_at timestamptz;
