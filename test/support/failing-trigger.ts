// A trigger that fails statements about one agent's rows, on one server or at the agent's node of a cluster.
import { randomUUID } from "node:crypto";
import { placeOf } from "../../src/store/cluster/routing.ts";
import { type Database, transaction } from "../../src/store/db.ts";

export type Failing = {
  table: string;
  /** Such as `before insert`. */
  when: string;
  /** PL/pgSQL after `raise exception`. */
  raise: string;
  /** As SQL: for which rows it does not. Default: for none. */
  unless?: string;
  /** Whether it fails the commit and not the statement. */
  atCommit?: boolean;
};

/** Returns what removes it. */
export async function failStatements(
  db: Database,
  agentId: string,
  { table, when, raise, unless = "false", atCommit = false }: Failing,
): Promise<() => Promise<void>> {
  const place = await placeOf(db, agentId);
  const name = `fail_${randomUUID().replaceAll("-", "")}`;
  await transaction(place, async client => {
    if (db.places) await client.query("set local citus.enable_ddl_propagation = off");
    await client.query(
      `create function ${name}() returns trigger language plpgsql as $$ begin
         if ${unless} then return coalesce(new, old); end if;
         raise exception ${raise};
       end $$`,
    );
    const [kind, timing] = atCommit
      ? ["constraint trigger", "deferrable initially deferred"]
      : ["trigger", ""];
    await client.query(
      `create ${kind} ${name} ${when} on ${await tableOf(client, table)} ${timing}
       for each row when (${when.endsWith("insert") ? "new" : "old"}.agent_id = '${agentId}') execute function ${name}()`,
    );
  });
  return () =>
    transaction(place, async client => {
      if (db.places) await client.query("set local citus.enable_ddl_propagation = off");
      await client.query(`drop function ${name} cascade`);
    });
}

type Client = { query(text: string, values: unknown[]): Promise<{ rows: { name: string }[] }> };

/** A group of a cluster has its shards as views. */
async function tableOf(client: Client, table: string): Promise<string> {
  const { rows } = await client.query(
    `select distinct d.refobjid::regclass::text as name from pg_rewrite r join pg_depend d on d.objid = r.oid
     where r.ev_class = $1::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid <> r.ev_class`,
    [table],
  );
  return rows[0]?.name ?? table;
}
