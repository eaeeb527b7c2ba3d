// Applies a migration to a database that is distributed: its new tables are distributed as they come, its triggers kept for the shards.
import { distributeMissing } from "./distribute.ts";
import type { Session } from "./nodes.ts";
import { growing } from "./tables.ts";

/**
 * In the session's transaction, in which a table's shards are changed one after the other. A foreign key between tables that
 * grow needs both distributed: where one is new, the key is a migration of its own.
 */
export async function applyToCluster(session: Session, text: string): Promise<void> {
  await session.query(forCluster(text));
  await distributeMissing(session);
}

const createTrigger =
  /^create (?:or replace )?trigger (?<name>\w+)(?<when>[^;]*?)\son (?:public\.)?(?<table>\w+)(?<rest>[^;]*?)\sexecute (?:function|procedure) (?<call>[^;]*);/gim;
const dropTrigger = /^drop trigger (?:if exists )?(?<name>\w+) on (?:public\.)?(?<table>\w+);/gim;

/** Citus has triggers on no distributed table: instead, they are noted for the shards, as `pg_get_triggerdef` writes them. */
export function forCluster(text: string): string {
  return text
    .replaceAll(dropTrigger, (statement, ...match) => {
      const { name, table } = match.at(-1) as Record<string, string>;
      return isGrowing(table) ? `delete from shard_triggers where name = '${name}';` : statement;
    })
    .replaceAll(createTrigger, (statement, ...match) => {
      const { name, when, table, rest, call } = match.at(-1) as Record<string, string>;
      if (!isGrowing(table)) return statement;
      const definition = `CREATE TRIGGER ${name}${when} ON public.${table} ${rest!.trim()} EXECUTE FUNCTION public.${call}`;
      return `insert into shard_triggers (name, table_name, definition) values ('${name}', '${table}', $trigger$${definition}$trigger$)
        on conflict (name) do update set definition = excluded.definition;`;
    });
}

function isGrowing(table: string | undefined): boolean {
  return growing.includes(table!);
}
