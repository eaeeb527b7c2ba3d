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

-- Null: the batch contains its resource. Not a foreign key: the statement that stores a batch locks the resource's row.
alter table trace_batches add column resource_id uuid;
create index trace_batches_resource on trace_batches (resource_id) where resource_id is not null;

-- Deletes a resource with its last batch. The lock makes this wait for transactions that are storing a batch of the same
-- resource, or deleting one; the second statement then sees what they did.
create function delete_unused_resources() returns trigger language plpgsql as $$
declare
  freed uuid[] := array(select distinct resource_id from gone where resource_id is not null);
begin
  if freed = '{}' then return null; end if;
  perform from shared_resources where id = any (freed) order by id for update;
  delete from shared_resources where id = any (freed)
    and not exists (select from trace_batches where trace_batches.resource_id = shared_resources.id);
  return null;
end
$$;
create trigger trace_batches_deleted after delete on trace_batches referencing old table as gone
  for each statement execute function delete_unused_resources();
