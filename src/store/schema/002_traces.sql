-- Traces, the batches they arrive in, what lists find them by, and what is counted, forgotten and erased of them. The agent
-- is in every key: a cluster divides these tables by agent (docs/decisions/047-keys-by-agent.md).

-- Columns after `derived_revision` are what lists show and filter by; they were derived from that revision. Where it is
-- behind `revision`, a merge has come since, and the next reader or the worker derives them again.
create table traces (
  id uuid not null,
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
  cached_tokens bigint,
  failed boolean not null,
  -- What the trace holds and nothing else, if nothing in it was said or done by an agent: lists leave it out.
  noise text check (noise in ('mcp_client', 'health_check', 'expression')),
  span_count integer not null,
  user_input text,
  response_text text,
  -- At most 50 each, in the order of the spans.
  tools text[] not null default '{}',
  models text[] not null default '{}',
  providers text[] not null default '{}',
  -- The rules that redacted something; null: none did.
  redacted text[],
  -- What the models used, from which the cost is computed with the prices of the day: a JSON list of a list for each model,
  -- empty without calls (model/price/usage.ts).
  usage text not null default '',
  conversation_id text collate "C",
  user_id text collate "C",
  -- When the turn of the conversation began, in microseconds since 1970: the start of the trace, else its arrival. Null
  -- without a conversation.
  turn_at bigint,
  -- Null: the trace has its content. 'none': it was not stored, of one batch at least. 'forgotten': it was dropped then.
  content text check (content in ('none', 'forgotten')),
  content_forgotten_at timestamptz,
  -- What is named by its id alone is found by the same index.
  primary key (id, agent_id)
);
create index traces_newest on traces (agent_id, id desc);
create index traces_stale on traces (updated_at) where derived_revision <> revision;
-- Of the rare, so that the common pays nothing: most traces are in none of these.
create index traces_failed on traces (agent_id, id desc) where failed;
create index traces_http_status on traces (agent_id, http_status, id desc) where http_status <> 200;
create index traces_test_runs on traces (agent_id, id desc) where kind = 'test_run';
create index traces_conversation on traces (agent_id, conversation_id, turn_at, id) where conversation_id is not null;
create index traces_user on traces (agent_id, user_id, id) where user_id is not null;

-- Traces are deleted by `delete_traces` alone, which takes along what belongs to them. Not by foreign keys: those would look up and
-- lock the trace's row for each row inserted, and dropping a range of batches would look for rows of other tables. What arrives
-- while its agent is being deleted goes with that, and so with this trigger.
create trigger traces_deleted_with_agent after delete on traces referencing old table as gone
  for each statement when (pg_trigger_depth() > 0) execute function delete_rows_of_agents_traces();

-- Makes an identity unique: the first request with it makes its trace. Identities stay when the retention time of a trace
-- is over, so that what is sent again is not counted twice, and go with a deletion or an erasure. No foreign key: every
-- insert would look it up.
create table trace_identities (
  agent_id uuid not null,
  -- Before the text, so that nothing is padded.
  trace_id uuid not null,
  external_id text not null,
  primary key (agent_id, external_id)
);

-- The OTLP trace ids of traces that have another identity, an x-request-id: log records name their trace by this id only.
create table trace_otlp_ids (
  agent_id uuid not null,
  otlp_trace_id text not null,
  trace_id uuid not null,
  primary key (agent_id, otlp_trace_id, trace_id)
);
create index trace_otlp_ids_of_trace on trace_otlp_ids (trace_id);

-- The spans as they came, zstd-compressed JSON, which is most of what traces take. Already compressed: kept in line while it
-- fits a page, never offered to a second compression. Divided into ranges of the trace's id, which has the time of its
-- arrival, so that old ones go by dropping a table; the service makes the ranges (store/ranges.ts). A cluster has one
-- table instead (store/ranges/join.ts).
create table trace_batches (
  trace_id uuid not null,
  seq integer not null,
  -- Eight bytes for each distinct span id of the batch.
  span_keys bytea not null,
  -- Bytes before compression.
  raw_length integer not null,
  spans bytea not null,
  -- Null: the batch contains its resource. Not a foreign key: the statement that stores a batch locks the resource's row.
  resource_id uuid,
  -- Of a batch of log records, which has no spans: eight bytes of hash for each record.
  record_keys bytea,
  agent_id uuid not null,
  primary key (trace_id, seq, agent_id)
) partition by range (trace_id);
alter table trace_batches alter column spans set storage external;
create index trace_batches_resource on trace_batches (resource_id) where resource_id is not null;
create trigger trace_batches_deleted after delete on trace_batches referencing old table as gone
  for each statement execute function delete_unused_resources();
-- Whatever arrives in the first days.
do $$
begin
  execute format('create table trace_batches_first partition of trace_batches for values from (minvalue) to (%L)
    with (toast_tuple_target = 8160)', id_at(date_trunc('day', now(), 'UTC') + interval '4 days'));
end
$$;
-- What comes while a range is missing is refused nowhere.
create table trace_batches_rest partition of trace_batches default with (toast_tuple_target = 8160);

-- At most one row: the ranges below this id are to be dropped, once no trace is left in them. Until then, a deletion by
-- retention leaves the batches of these traces where they are. Withdrawn: not anymore, and what was left is to be deleted.
create table range_drops (
  singleton boolean primary key default true check (singleton),
  below uuid not null,
  withdrawn boolean not null default false
);

-- Resources that several traces of an agent share, stored once: a request may contain thousands of traces that have one
-- resource of a megabyte.
create table shared_resources (
  agent_id uuid not null,
  -- From a hash of the agent's id and the resource, so that no two agents share a row.
  id uuid not null,
  -- zstd-compressed JSON.
  resource bytea not null,
  primary key (agent_id, id)
);
alter table shared_resources alter column resource set storage external;
create index shared_resources_id on shared_resources (id);

-- The log records of one span that arrived in one request, until the span arrives or ten minutes have passed.
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
  -- What a trace without it gains.
  has_input boolean not null,
  has_reply boolean not null,
  tools text[] not null,
  primary key (agent_id, otlp_trace_id, id)
) with (toast_tuple_target = 8160);
alter table waiting_records alter column records set storage external;
create index waiting_records_received on waiting_records (received_at);

-- Which values occur in the traces of an agent that arrived in one minute, or for tests in the hour that begins with it.
-- Not a row per trace, which ingestion would pay for: a common value has one row a minute, a rare one as many as traces.
-- The minute is that of the trace's id. Of a test: its id with the outcome, and its id with the version.
create table trace_values (
  agent_id uuid not null,
  kind text not null check (kind in ('tool', 'model', 'provider', 'redacted', 'outcome', 'version')),
  value text not null,
  -- Minutes since 1970.
  minute bigint not null,
  primary key (agent_id, kind, value, minute)
);
create index trace_values_minute on trace_values (agent_id, minute);

-- Values that redaction changed, by rule and hour of arrival.
create table redaction_hours (
  agent_id uuid not null references agents on delete cascade,
  hour timestamptz not null,
  rule text not null,
  count bigint not null,
  primary key (agent_id, hour, rule)
);

-- What became of ingestion requests, counted by the minute and kept for seven days. The id's time is the minute: ids are in
-- the order of the minutes, which makes them cursors and ends of retention. No foreign keys to keys and agents: what was
-- counted stays when they are gone.
create table ingestion_minutes (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  at timestamptz not null,
  code text not null,
  key_id uuid not null,
  -- Sent by anyone with a key: shortened, and few of them a minute.
  service_name text,
  agent_id uuid,
  requests bigint not null,
  spans bigint not null,
  -- PARTIAL: traces refused, by code.
  reasons jsonb not null,
  -- The latest rejected request: when it came, and { code, requestId, paths }, with the paths of invalid fields up to the
  -- first step that is not a field of the formats, so that nothing of a payload is kept. Null if none was rejected.
  rejected_at timestamptz,
  rejection jsonb,
  -- Log records that were accepted, and those that were dropped by reason.
  records bigint not null default 0,
  dropped jsonb not null default '{}',
  constraint ingestion_minutes_counted
    unique nulls not distinct (project_id, at, code, key_id, service_name, agent_id)
);
create index ingestion_minutes_newest on ingestion_minutes (project_id, id desc);
create index ingestion_minutes_rejected on ingestion_minutes (project_id, rejected_at desc) where rejection is not null;

-- What is to be forgotten, and when: stored by agents that forget content.
create table content_deadlines (
  agent_id uuid not null references agents on delete cascade,
  -- A trace, or a manual run, whose turns have replies before they have traces.
  subject_id uuid not null,
  -- Seconds from the end of the last evaluation: the shortest time under which something of it was stored.
  after_s integer not null,
  -- When to look whether it is due. A process that works on it moves this on: that is its lease.
  check_at timestamptz not null,
  primary key (agent_id, subject_id)
);
create index content_deadlines_check on content_deadlines (check_at);

-- Erasures: everything about a user, a conversation or a text, found in all traces of a project and deleted. Dry runs are
-- deleted an hour after they ended. What is looked for is known only while it is needed, and encrypted.
create table erasures (
  id uuid primary key,
  project_id uuid not null references projects on delete cascade,
  -- The account's id; it stays when the account is gone.
  created_by text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  criterion text not null check (criterion in ('userId', 'conversationId', 'externalId', 'traceIds', 'text')),
  dry_run boolean not null,
  state text not null default 'running' check (state in ('running', 'done', 'failed')),
  -- Encrypted JSON: the values. Null once an erasure has ended.
  sealed bytea,
  -- How many traces may be erased; null: a dry run.
  confirmed integer,
  -- Matches of earlier traces are those of the dry run: only what changed since then is searched.
  since timestamptz,
  -- How far it is: the step and its cursor, which has nothing but ids.
  step text not null,
  cursor text,
  traces integer not null,
  read integer not null default 0,
  matched integer not null default 0,
  erased integer not null default 0,
  attempts integer not null default 0,
  -- Why the last attempt failed.
  error text,
  -- When the last part of it was done, or the next one may be: after a failed attempt, or where it waits for others.
  next_at timestamptz not null default now()
);
create index erasures_project on erasures (project_id, id desc);
create index erasures_open on erasures (id) where state = 'running';
create index erasures_dry on erasures (finished_at) where dry_run;

-- The traces that an erasure found. `place`: where, as encrypted JSON; only of the first ones.
create table erasure_matches (
  agent_id uuid not null,
  erasure_id uuid not null,
  trace_id uuid not null,
  place bytea,
  primary key (agent_id, erasure_id, trace_id)
);
create index erasure_matches_erasure on erasure_matches (erasure_id, trace_id);
create index erasure_matches_trace on erasure_matches (trace_id);
