-- An agent's own rules for reading its traces, which go before its conventions: a list of { from, to, spanName? }.
alter table agents add column convention_rules jsonb not null default '[]';
-- The same for the same conventions and rules, '' for none: what statements compare, as rules may be long.
alter table agents add column read_by_key text not null default '';
update agents set read_by_key = array_to_string(conventions, ' ') where conventions <> '{}';
create index agents_read_by on agents (project_id, id) where read_by_key <> '';
drop index agents_conventions;
