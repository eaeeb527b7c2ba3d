-- What a Citus node needs so that statements for one server work on a group of shards (groups.ts). Every node has these
-- functions; a group's schema is created on its node by the first transaction that enters the group, and goes with its shards.

-- What `call_after_deletion` was told of distributed tables: a reference table.
create table if not exists shard_triggers (
  name text primary key,
  table_name text not null,
  function_name text not null,
  nested boolean not null
);

-- A schema with the shards of the group `of`, a shard of `traces`, under the names of their tables, and the node's copies of
-- the reference tables: views, which can be written to. Also the functions, so that each group has plans of its own, and on the
-- shards the triggers of their tables, which Citus has on no distributed table. Made again after a change of the schema:
-- `version` is when it changed last.
create or replace function name_shards(of bigint, version text) returns void language plpgsql
set citus.enable_ddl_propagation = off set client_min_messages = warning
-- Bodies name tables that this path does not have.
set search_path = pg_catalog set check_function_bodies = off as $$
declare
  named text := 'shards_' || of;
  part record;
begin
  perform pg_advisory_xact_lock(hashtextextended(named, 12));
  if obj_description(to_regnamespace(named), 'pg_namespace') >= version collate "C" and to_regclass(named || '.traces') is not null then
    return;
  end if;
  execute format('drop schema if exists %I cascade', named);
  execute format('create schema %I', named);
  for part in
    select c.relname as name, s.shardid as shard
      from pg_dist_shard first
      join pg_dist_partition p on p.logicalrelid = first.logicalrelid
      join pg_dist_partition together on together.colocationid = p.colocationid
      join pg_dist_shard s on s.logicalrelid = together.logicalrelid and s.shardminvalue = first.shardminvalue
      join pg_class c on c.oid = s.logicalrelid
      where first.shardid = of
    union all
    -- Reference tables.
    select c.relname, s.shardid from pg_dist_shard s join pg_dist_partition p using (logicalrelid)
      join pg_class c on c.oid = s.logicalrelid where p.partmethod = 'n' and p.repmodel = 't'
  loop
    execute format('create view %I.%I as select * from public.%I', named, part.name, part.name || '_' || part.shard);
  end loop;
  -- Shards have all defaults but those of sequences.
  for part in
    select c.relname as name, a.attname as column_name, pg_get_expr(d.adbin, d.adrelid) as value
      from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
      join pg_attrdef d on d.adrelid = c.oid join pg_attribute a on a.attrelid = c.oid and a.attnum = d.adnum
      where pg_get_expr(d.adbin, d.adrelid) like 'nextval(%' and to_regclass(format('%I.%I', named, c.relname)) is not null
  loop
    execute format('alter view %I.%I alter column %I set default %s', named, part.name, part.column_name, part.value);
  end loop;
  -- Written in SQL first: those are read when they are created.
  for part in
    select pg_get_functiondef(f.oid) as definition, f.proname as name, f.prorettype = 'trigger'::regtype as of_trigger
      from pg_proc f join pg_language l on l.oid = f.prolang
      where f.pronamespace = 'public'::regnamespace and l.lanname in ('sql', 'plpgsql')
        and f.proname not in ('name_shards', 'enter_shards')
        and not exists (select from pg_depend d where d.objid = f.oid and d.deptype = 'e')
      order by l.lanname desc, f.oid
  loop
    execute replace(part.definition, 'FUNCTION public.', format('FUNCTION %I.', named));
    -- Those of triggers also run where nobody entered the group: when its agents are deleted.
    if part.of_trigger then execute format('alter function %I.%I() set search_path = %I', named, part.name, named); end if;
  end loop;
  for part in
    select t.name, c.relname || '_' || s.shardid as shard, t.function_name as called, t.nested
      from pg_dist_shard first
      join pg_dist_shard s on s.shardminvalue = first.shardminvalue
      join pg_class c on c.oid = s.logicalrelid
      join public.shard_triggers t on t.table_name = c.relname
      where first.shardid = of
  loop
    execute format(
      'create trigger %I after delete on public.%I referencing old table as gone for each statement %s execute function %I.%I()',
      part.name, part.shard, case when part.nested then 'when (pg_trigger_depth() > 0)' end, named, part.called
    );
  end loop;
  execute format('comment on schema %I is %L', named, version);
end
$$;

-- Until the end of the transaction, names mean the shards of this group and nothing else, and the group is not moved.
create or replace function enter_shards(of bigint, version text) returns void language plpgsql as $$
begin
  -- A share lock, as every transaction of Citus takes that writes to a shard. Moves lock exclusively.
  perform lock_shard_metadata(5, array[of]);
  if not exists (
    select from pg_dist_placement p join pg_dist_local_group l on l.groupid = p.groupid where p.shardid = of
  ) then
    raise exception 'The shards were moved to another node.' using errcode = 'serialization_failure';
  end if;
  -- While services are upgraded one by one, those of the earlier version leave it as the later one made it.
  if coalesce(obj_description(to_regnamespace('shards_' || of), 'pg_namespace'), '') < version collate "C"
    or to_regclass('shards_' || of || '.traces') is null then
    perform name_shards(of, version);
  end if;
  perform set_config('search_path', 'shards_' || of, true);
end
$$;
