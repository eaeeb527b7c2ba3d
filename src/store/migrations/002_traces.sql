-- Traces, the batches they arrived in, and the runs that judge them.

-- Columns after `derived_revision` are what lists show and filter by; they were derived from that revision.
-- Where it is behind `revision`, a merge has come since, and the next reader or the worker derives them again.
create table traces (
  id uuid primary key,
  agent_id uuid not null references agents on delete cascade,
  external_id text not null,
  kind text not null check (kind in ('live', 'test_run')),
  path text not null check (path in ('canonical', 'otlp')),
  revision integer not null default 1,
  received_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  batch_count integer not null default 1,
  -- Sums over the batches, repetitions included: upper bounds of what a merged trace may hold.
  batch_spans integer not null,
  batch_bytes bigint not null,
  derived_revision integer not null,
  name text not null,
  duration_ms double precision,
  http_status integer,
  input_tokens bigint,
  output_tokens bigint,
  reasoning_tokens bigint,
  failed boolean not null,
  span_count integer not null,
  user_input text,
  response_text text,
  constraint traces_identity unique (agent_id, external_id)
);
create index traces_newest on traces (agent_id, id desc);
create index traces_stale on traces (updated_at) where derived_revision <> revision;

-- The spans as they came, zstd-compressed JSON. Already compressed: kept in line while it fits a page, never
-- offered to a second compression.
create table trace_batches (
  trace_id uuid not null,
  seq integer not null,
  -- Eight bytes for each distinct span id of the batch.
  span_keys bytea not null,
  -- Bytes before compression.
  raw_length integer not null,
  spans bytea not null,
  primary key (trace_id, seq)
) with (toast_tuple_target = 8160);
alter table trace_batches alter column spans set storage external;

create table runs (
  id uuid primary key,
  trace_id uuid not null,
  agent_id uuid not null,
  kind text not null check (kind in ('passive', 'manual')),
  state text not null check (state in ('pending', 'running', 'completed', 'error')),
  first_batch_at timestamptz not null default now(),
  due_at timestamptz not null,
  created_at timestamptz not null default now(),
  attempts integer not null default 0,
  lease uuid,
  lease_until timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  -- The trace's revision that was judged; null until then.
  revision integer,
  routing text,
  verdict text,
  score double precision,
  passed integer,
  failed integer,
  skipped integer,
  missing_instrumentation integer,
  test_ids uuid[],
  -- Results and applicability, zstd-compressed JSON.
  detail bytea,
  error text
) with (toast_tuple_target = 8160);
alter table runs alter column detail set storage external;
create unique index runs_one_pending on runs (trace_id) where state = 'pending' and kind = 'passive';
create index runs_trace on runs (trace_id, id desc);
create index runs_due on runs (due_at) where state = 'pending';
create index runs_leased on runs (lease_until) where state = 'running';
create index runs_agent on runs (agent_id, id desc) where state = 'completed';

-- Batches and runs go with their trace. Not by foreign keys: those would look up and lock the trace's row for each
-- row inserted, and every insert of either happens in a statement that has just made the trace or holds its lock.
create function delete_what_hangs_on_traces() returns trigger language plpgsql as $$
begin
  delete from trace_batches using gone where trace_batches.trace_id = gone.id;
  delete from runs using gone where runs.trace_id = gone.id;
  return null;
end
$$;
create trigger traces_deleted after delete on traces referencing old table as gone
  for each statement execute function delete_what_hangs_on_traces();
