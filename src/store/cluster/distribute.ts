// Distributes a database over the nodes of a Citus cluster: the tables that grow with traffic by agent, what they refer to on every node.

import { readFile } from "node:fs/promises";
import { advisoryLocks } from "../../model/advisory-locks.ts";
import { applicationName, newClient, noTimeouts } from "../connection/connect.ts";
import { UnfitDatabaseError } from "../connection/unfit-database.ts";
import type { Session } from "../db.ts";
import { isDivided } from "../ranges/catalog.ts";
import { joinRanges } from "../ranges/join.ts";
import { hasCitus, listWorkers } from "./nodes.ts";
import { growing, references } from "./tables.ts";

/** Why this database cannot be distributed. */
export class UnfitForCitusError extends UnfitDatabaseError {
  override name = "UnfitForCitusError";
}

export type Distributed = { reference: string[]; distributed: string[] };

/** `at` of `of` tables are done. */
export type Distributing = { table: string; at: number; of: number };

export type DistributeOptions = {
  /** Groups of shards, so the most nodes that the tables can be spread over. */
  shards?: number;
  onProgress?: (progress: Distributing) => void;
};

/**
 * Everything or nothing, in one transaction, and nothing that is done already. No service may be connected meanwhile; one that
 * starts waits, and finds the database distributed. Throws UnfitForCitusError.
 */
export async function distribute(
  url: string,
  { shards = 16, onProgress = () => {} }: DistributeOptions = {},
): Promise<Distributed> {
  const client = newClient(url, { options: noTimeouts });
  await client.connect();
  try {
    await requireNodes(client);
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock($1)", [advisoryLocks.schema]);
    await requireAlone(client);
    // Foreign keys to reference tables need everything to happen on one connection to each node.
    await client.query("set local citus.multi_shard_modify_mode = 'sequential'");
    await client.query(`set local citus.shard_count = ${shards}`);
    const done = await distributeMissing(client, onProgress);
    await requireAlone(client, applicationName);
    await client.query("commit");
    return done;
  } finally {
    await client.end();
  }
}

/** In the session's transaction, which changes the shards of a table one after the other. Throws UnfitForCitusError. */
export async function distributeMissing(
  session: Session,
  onProgress: (progress: Distributing) => void = () => {},
): Promise<Distributed> {
  await session.query(await readFile(new URL("groups.sql", import.meta.url), "utf8"));
  if (await isDivided(session)) await joinRanges(session);
  await moveTriggers(session);
  await replaceIdentities(session);
  const done = await distributeTables(session, onProgress);
  await lockByKeys(session);
  await shareFunctions(session);
  return done;
}

/** Throws UnfitForCitusError unless the URL leads to a coordinator that has workers. */
export async function requireCluster(url: string): Promise<void> {
  const client = newClient(url, { connectionTimeoutMillis: 5_000, options: noTimeouts });
  await client.connect();
  try {
    await requireNodes(client);
  } finally {
    await client.end();
  }
}

async function requireNodes(session: Session): Promise<void> {
  if (!(await hasCitus(session))) {
    throw new UnfitForCitusError(
      "The database has no extension citus. Create it on every node, and add the nodes.",
    );
  }
  const { rows } = await session.query("select from pg_dist_node where groupid = 0");
  if (rows.length === 0) {
    throw new UnfitForCitusError(
      "The cluster does not know its coordinator. Run: select citus_set_coordinator_host('…', 5432)",
    );
  }
  if ((await listWorkers(session)).length === 0) {
    throw new UnfitForCitusError(
      "The cluster has no workers. For each, run: select citus_add_node('…', 5432)",
    );
  }
}

/** `name`: only sessions with this one. Those that wait for an advisory lock are starting, and find what is done here. */
async function requireAlone(session: Session, name: string | null = null): Promise<void> {
  await session.query("select pg_stat_clear_snapshot()");
  const { rows } = await session.query<{ name: string }>(
    `select distinct concat_ws(' from ', coalesce(nullif(application_name, ''), 'unnamed'), host(client_addr)) as name
     from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()
       and coalesce(backend_type, 'client backend') = 'client backend' and coalesce(application_name, '') !~ '^citus'
       and (wait_event_type, wait_event) is distinct from ('Lock', 'advisory')
       and ($1::text is null or application_name = $1) order by 1`,
    [name],
  );
  if (rows.length === 0) return;
  throw new UnfitForCitusError(
    `Others are connected to the database (${rows.map(row => row.name).join(", ")}). Stop all services, and whatever else uses it.`,
  );
}

async function distributeTables(
  session: Session,
  onProgress: (progress: Distributing) => void,
): Promise<Distributed> {
  const { rows } = await session.query<{ name: string }>(
    "select logicalrelid::text as name from pg_dist_partition where partmethod <> 'n' or repmodel = 't'",
  );
  const before = new Set(rows.map(({ name }) => name));
  const existing = await listTables(session);
  const isMissing = (name: string) => existing.has(name) && !before.has(name);
  const reference = references.filter(isMissing);
  const distributed = growing.filter(isMissing);
  const of = reference.length + distributed.length;
  let at = 0;
  for (const name of reference) {
    onProgress({ table: name, at: at++, of });
    await session.query("select create_reference_table($1)", [name]);
  }
  const keys = await dropKeysAmong(session, distributed);
  for (const name of distributed) {
    onProgress({ table: name, at: at++, of });
    const together = name === "traces" ? "none" : "traces";
    await session.query("select create_distributed_table($1, 'agent_id', colocate_with => $2)", [
      name,
      together,
    ]);
    await session.query("select truncate_local_data_after_distributing_table($1::regclass)", [name]);
  }
  for (const { table, name, definition } of keys) {
    await session.query(`alter table ${table} add constraint ${name} ${definition}`);
  }
  if (distributed.includes("trace_identities")) {
    // In place of the trigger of `agents`. Costs 5 % of an insert.
    await session.query(
      `alter table trace_identities add constraint trace_identities_agent_id_fkey
         foreign key (agent_id) references agents on delete cascade`,
    );
  }
  return { reference, distributed };
}

/**
 * Who changes what may be stored of an agent waits for transactions that store it, which lock the copy of its row on their node
 * (`for key share`). `for update` locks the coordinator's copy alone; a change of columns in a unique key locks every one.
 */
async function lockByKeys(session: Session): Promise<void> {
  await session.query(
    "create unique index if not exists agents_storing on agents (id, intake_key, privacy_revision)",
  );
}

async function listTables(session: Session): Promise<Set<string>> {
  const { rows } = await session.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')",
  );
  return new Set(rows.map(({ name }) => name));
}

type ForeignKey = { table: string; name: string; definition: string };

/** A table cannot be distributed while it refers to one that is not, or the other way around. */
async function dropKeysAmong(session: Session, tables: readonly string[]): Promise<ForeignKey[]> {
  const { rows } = await session.query<ForeignKey>(
    `select conrelid::regclass::text as table, quote_ident(conname) as name,
        pg_get_constraintdef(oid) as definition
      from pg_constraint
      where contype = 'f' and conrelid::regclass::text = any ($1) and confrelid::regclass::text = any ($1)`,
    [tables],
  );
  for (const { table, name } of rows) await session.query(`alter table ${table} drop constraint ${name}`);
  return rows;
}

/**
 * To where they are created on the shards: Citus has triggers on no table that is distributed or on every node. That of `agents` goes:
 * on a node's copy, it could not reach the other nodes.
 */
async function moveTriggers(session: Session): Promise<void> {
  const { rows } = await session.query<{ table: string; trigger: string; called: string; nested: boolean }>(
    `select t.tgrelid::regclass::text as table, t.tgname as trigger, t.tgfoid::regproc::text as called, t.tgqual is not null as nested
      from pg_trigger t where not t.tgisinternal and t.tgrelid::regclass::text = any ($1)`,
    [[...growing, "agents"]],
  );
  for (const { table, trigger, called, nested } of rows) {
    await session.query(`drop trigger ${trigger} on ${table}`);
    if (table !== "agents")
      await session.query("select call_after_deletion($1, $2, $3, $4)", [trigger, table, called, nested]);
  }
}

/** Every node counts on its own: an agent's changes stay in their order while it stays on its node. */
async function replaceIdentities(session: Session): Promise<void> {
  const { rows } = await session.query<{ table: string; column: string }>(
    `select attrelid::regclass::text as table, attname as column from pg_attribute
     where attrelid::regclass::text = any ($1) and attidentity <> '' and not attisdropped`,
    [growing],
  );
  for (const { table, column } of rows) {
    const sequence = `${table}_${column}s`;
    await session.query(`alter table ${table} alter column ${column} drop identity`);
    await session.query(`create sequence ${sequence} owned by ${table}.${column}`);
    await session.query(
      `select setval('${sequence}', (select coalesce(max(${column}), 0) + 1 from ${table}), false)`,
    );
    await session.query(`alter table ${table} alter column ${column} set default nextval('${sequence}')`);
  }
}

/** Every node has the functions that statements call. */
async function shareFunctions(session: Session): Promise<void> {
  const { rows } = await session.query<{ signature: string }>(
    `select f.oid::regprocedure::text as signature from pg_proc f join pg_language l on l.oid = f.prolang
      where f.pronamespace = 'public'::regnamespace and l.lanname in ('sql', 'plpgsql')
        and not exists (select from pg_depend d where d.objid = f.oid and d.deptype = 'e')
      -- Functions in SQL first, which others may call.
      order by l.lanname desc`,
  );
  for (const { signature } of rows)
    await session.query("select create_distributed_function($1)", [signature]);
}
