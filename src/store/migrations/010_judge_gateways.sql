-- What gateways in front of a judge need: headers, a prompt without a system role, and usage that is estimated.

-- Sealed: a JSON array of { name, value }; null: none.
alter table judge_connections add column headers bytea;

alter table judge_states
  -- False: the model takes its instructions in the user's message only.
  add column system_role boolean not null default true,
  -- Until when the server asked not to be called, and what it said.
  add column wait_until timestamptz,
  add column wait_reason text;

-- The server reported no usage, so the tokens are an estimate.
alter table judge_calls add column tokens_estimated boolean not null default false;
alter table judge_days add column estimated_tokens bigint not null default 0;
alter table judge_test_days add column estimated_tokens double precision not null default 0;
