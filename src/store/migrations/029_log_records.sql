-- OpenTelemetry log records about spans: stored with the trace, or waiting until their span arrives.

-- Set on batches of log records, which have no spans: eight bytes of hash for each record.
alter table trace_batches add column record_keys bytea;

-- The OTLP trace ids of traces that have another identity, an x-request-id: log records name their trace by this id only.
create table trace_otlp_ids (
  agent_id uuid not null,
  otlp_trace_id text not null,
  trace_id uuid not null,
  primary key (agent_id, otlp_trace_id, trace_id)
);
create index trace_otlp_ids_of_trace on trace_otlp_ids (trace_id);

-- The records of one span that arrived in one request, until the span arrives or ten minutes have passed.
create table waiting_records (
  agent_id uuid not null references agents on delete cascade,
  otlp_trace_id text not null,
  id uuid not null,
  key_id uuid not null,
  received_at timestamptz not null default now(),
  -- The span id, as in `trace_batches.span_keys`.
  span_key bytea not null,
  -- What is copied to `trace_batches`: eight bytes of hash for each record, bytes before compression, and the records.
  record_keys bytea not null,
  raw_length integer not null,
  records bytea not null,
  -- What a trace that lacks it gains.
  has_input boolean not null,
  has_reply boolean not null,
  tools text[] not null,
  primary key (agent_id, otlp_trace_id, id)
) with (toast_tuple_target = 8160);
alter table waiting_records alter column records set storage external;
create index waiting_records_received on waiting_records (received_at);

-- Records of a request that were accepted, and those that were dropped by reason.
alter table ingestion_minutes add column records bigint not null default 0, add column dropped jsonb not null default '{}';

create or replace function delete_what_hangs_on_traces() returns trigger language plpgsql as $$
declare
  runs_of_turns uuid[] := array(select distinct u.run_id from run_turns u join gone on gone.id = u.trace_id);
begin
  delete from trace_batches using gone where trace_batches.trace_id = gone.id;
  delete from waiting_records w using (
    select agent_id, external_id as otlp_trace_id from gone
    union select o.agent_id, o.otlp_trace_id from trace_otlp_ids o join gone on gone.id = o.trace_id
  ) named
    where w.agent_id = named.agent_id and w.otlp_trace_id = named.otlp_trace_id;
  delete from trace_otlp_ids using gone where trace_otlp_ids.trace_id = gone.id;
  delete from judge_calls using gone where judge_calls.trace_id = gone.id;
  delete from judge_answers using gone where judge_answers.trace_id = gone.id;
  if runs_of_turns <> '{}' then perform delete_turns_of(runs_of_turns); end if;
  delete from runs using gone where runs.trace_id = gone.id;
  return null;
end
$$;
