// Applies a migration to a database that is distributed: its new tables are distributed as they come, its triggers kept for the shards.
import type { Session } from "../db.ts";
import { distributeMissing } from "./distribute.ts";
import { growing, references } from "./tables.ts";

/**
 * In the session's transaction, in which a table's shards are changed one after the other. A foreign key between tables that
 * grow needs both distributed: where one is new, the key is a migration of its own.
 */
export async function applyToCluster(session: Session, text: string): Promise<void> {
  await session.query(forCluster(text));
  await distributeMissing(session);
}

const createTrigger = /^create (?:or replace )?trigger (?<name>\w+) (?<definition>[^;]{0,500});/gim;
const dropTrigger = /^drop trigger (?:if exists )?(?<name>\w+) on (?:public\.)?(?<table>\w+);/gim;

/**
 * Citus has triggers on no distributed table: instead, they are noted for the shards, as `pg_get_triggerdef` writes them. Those of
 * tables that every node has are on the coordinator's copy, since what they change is there alone.
 */
export function forCluster(text: string): string {
  return text
    .replaceAll(dropTrigger, (statement, ...match) => {
      const { name, table } = match.at(-1) as Record<string, string>;
      if (growing.includes(table!)) return `delete from shard_triggers where name = '${name}';`;
      return references.includes(table!)
        ? onCopy(table!, `DROP TRIGGER ${name} ON public.${table}`)
        : statement;
    })
    .replaceAll(createTrigger, (statement, ...match) => {
      const { name, definition: written } = match.at(-1) as Record<string, string>;
      const [when, onTable, call] = written!.split(/\s(?:on|execute (?:function|procedure))\s/i);
      const [, table, rest] = /^(?:public\.)?(\w+)(.*)/s.exec(onTable ?? "") ?? [];
      const definition = `CREATE TRIGGER ${name} ${when} ON public.${table} ${rest?.trim()} EXECUTE FUNCTION public.${call}`;
      if (references.includes(table!)) return onCopy(table!, definition);
      if (!growing.includes(table!)) return statement;
      return `insert into shard_triggers (name, table_name, definition) values ('${name}', '${table}', $trigger$${definition}$trigger$)
        on conflict (name) do update set definition = excluded.definition;`;
    });
}

/** A reference table that is new in this migration has no copies yet: then its triggers are moved with it. */
function onCopy(table: string, statement: string): string {
  return `set local citus.enable_ddl_propagation = off;
do $copy$ begin
  execute replace($trigger$${statement} $trigger$, ' ON public.${table} ', ' ON public.${table}' || coalesce(
    (select '_' || shardid from pg_dist_shard where logicalrelid = to_regclass('public.${table}')), '') || ' ');
end $copy$;
set local citus.enable_ddl_propagation = on;`;
}
