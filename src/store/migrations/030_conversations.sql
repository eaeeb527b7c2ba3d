-- The conversation that a trace is a turn of, and its user, where lists find them. Most agents send neither, and then the
-- indexes have no entry. Older traces are read again by the backfill of 028_cost.sql.
alter table traces
  add column conversation_id text collate "C",
  add column user_id text collate "C",
  -- When the turn began, in microseconds since 1970: the start of the trace, else its arrival. Null without a conversation.
  add column turn_at bigint;
create index traces_conversation on traces (agent_id, conversation_id, turn_at, id) where conversation_id is not null;
create index traces_user on traces (agent_id, user_id, id) where user_id is not null;
