// Distributes a database over the nodes of a Citus cluster: the tables that grow with traffic by agent, what they refer to on every node.
import { readFile } from "node:fs/promises";
import type pg from "pg";
import { newClient, noTimeouts } from "../connect.ts";

/** Copied to every node: what statements about traces read or refer to. In the order of their foreign keys. */
const references = ["accounts", "projects", "agents", "keys", "test_cases", "shard_triggers"];

/** By agent, together. Others stay on the coordinator. */
const growing = [
  "traces",
  "trace_identities",
  "trace_batches",
  "runs",
  "trace_values",
  "trace_otlp_ids",
  "waiting_records",
  "shared_resources",
  "expected_traces",
  "content_deadlines",
  "result_states",
  "labels",
  "launches",
  "launch_tests",
  "launch_inputs",
  "run_turns",
  "backtests",
  "backtest_results",
  "erasure_matches",
  "judge_calls",
  "judge_answers",
  "judge_days",
  "judge_test_days",
  "agent_hours",
  "model_hours",
  "redaction_hours",
  "test_hours",
  "check_hours",
  "test_versions",
  "test_states",
  "test_state_changes",
  "alert_schedules",
];

/** Why this database cannot be distributed. */
export class UnfitForCitusError extends Error {
  override name = "UnfitForCitusError";
}

export type Distributed = { reference: string[]; distributed: string[] };

/**
 * Everything or nothing, in one transaction, and nothing that is done already. Nothing may write to the database meanwhile.
 * `shards`: groups of shards, so the most nodes that the tables can be spread over. Throws UnfitForCitusError.
 */
export async function distribute(
  url: string,
  { shards = 16 }: { shards?: number } = {},
): Promise<Distributed> {
  const client = newClient(url, { options: noTimeouts });
  await client.connect();
  try {
    await requireFit(client);
    await client.query("begin");
    // Foreign keys to reference tables need everything to happen on one connection to each node.
    await client.query("set local citus.multi_shard_modify_mode = 'sequential'");
    await client.query(`set local citus.shard_count = ${shards}`);
    await client.query(await readFile(new URL("shard-names.sql", import.meta.url), "utf8"));
    await moveTriggers(client);
    const ofReferences = await dropTriggers(client, references);
    await replaceIdentities(client);
    const done = await distributeTables(client);
    await shareFunctions(client);
    await restoreTriggers(
      client,
      ofReferences.filter(({ name }) => name !== "agents_deleted_identities"),
    );
    await client.query("commit");
    return done;
  } finally {
    await client.end();
  }
}

async function requireFit(client: pg.Client): Promise<void> {
  const { rows: extension } = await client.query("select from pg_extension where extname = 'citus'");
  if (extension.length === 0) {
    throw new UnfitForCitusError(
      "The database has no extension citus. Create it on every node, and add the nodes.",
    );
  }
  const { rows: keys } = await client.query<{ names: string | null }>(
    `select string_agg(distinct i.indrelid::regclass::text, ', ') as names from pg_index i
      where i.indisunique and i.indrelid::regclass::text = any ($1)
        and not exists (
          select from pg_attribute a
          where a.attrelid = i.indrelid and a.attname = 'agent_id' and a.attnum = any (i.indkey) and not a.attisdropped
        )`,
    [growing],
  );
  const { rowCount: filling } = await client.query("select from backfills where name = 'trace_identities'");
  if (filling) throw new UnfitForCitusError("Identities of traces from before are still being filled.");
  if (keys[0]!.names)
    throw new UnfitForCitusError(`The keys of these tables lack the agent: ${keys[0]!.names}.`);
}

async function distributeTables(client: pg.Client): Promise<Distributed> {
  const { rows } = await client.query<{ name: string }>(
    "select logicalrelid::text as name from pg_dist_partition where partmethod <> 'n' or repmodel = 't'",
  );
  const before = new Set(rows.map(({ name }) => name));
  const reference = references.filter(name => !before.has(name));
  const distributed = growing.filter(name => !before.has(name));
  for (const name of reference) await client.query("select create_reference_table($1)", [name]);
  const keys = await dropKeysAmong(client, distributed);
  for (const name of distributed) {
    const together = name === "traces" ? "none" : "traces";
    await client.query("select create_distributed_table($1, 'agent_id', colocate_with => $2)", [
      name,
      together,
    ]);
    await client.query("select truncate_local_data_after_distributing_table($1::regclass)", [name]);
  }
  for (const { table, name, definition } of keys) {
    await client.query(`alter table ${table} add constraint ${name} ${definition}`);
  }
  if (distributed.includes("trace_identities")) {
    // In place of a trigger of `agents`: on a node's copy, it could not reach the other nodes. Costs 5 % of an insert.
    await client.query(
      `alter table trace_identities add constraint trace_identities_agent_id_fkey
         foreign key (agent_id) references agents on delete cascade`,
    );
  }
  return { reference, distributed };
}

type ForeignKey = { table: string; name: string; definition: string };

/** A table cannot be distributed while it refers to one that is not, or the other way around. */
async function dropKeysAmong(client: pg.Client, tables: string[]): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as table, quote_ident(conname) as name,
        replace(pg_get_constraintdef(oid), ' NOT VALID', '') as definition
      from pg_constraint
      where contype = 'f' and conrelid::regclass::text = any ($1) and confrelid::regclass::text = any ($1)`,
    [tables],
  );
  for (const { table, name } of rows) await client.query(`alter table ${table} drop constraint ${name}`);
  return rows;
}

type Trigger = { name: string; table: string; definition: string };

/** Citus has triggers on no table that is distributed or on every node. */
async function dropTriggers(client: pg.Client, tables: string[]): Promise<Trigger[]> {
  // With another search path, definitions would lack the schema.
  await client.query("set local search_path = pg_catalog");
  const { rows } = await client.query<Trigger>(
    `select quote_ident(t.tgname) as name, c.relname as table, pg_get_triggerdef(t.oid) as definition
      from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where not t.tgisinternal and c.relnamespace = 'public'::regnamespace and c.relname = any ($1)`,
    [tables],
  );
  await client.query("set local search_path to default");
  for (const { name, table } of rows) await client.query(`drop trigger ${name} on ${table}`);
  return rows;
}

/** From where they are created on the shards, with their names. */
async function moveTriggers(client: pg.Client): Promise<void> {
  for (const { name, table, definition } of await dropTriggers(client, growing)) {
    await client.query("insert into shard_triggers (name, table_name, definition) values ($1, $2, $3)", [
      ...[name, table, definition],
    ]);
  }
}

/** On the coordinator's copies of reference tables: what they change is there alone. */
async function restoreTriggers(client: pg.Client, triggers: Trigger[]): Promise<void> {
  await client.query("set local citus.enable_ddl_propagation = off");
  for (const { table, definition } of triggers) {
    const { rows } = await client.query<{ shard: number }>(
      "select shardid as shard from pg_dist_shard where logicalrelid = $1::regclass",
      [table],
    );
    await client.query(definition.replace(` ON public.${table} `, ` ON public.${table}_${rows[0]!.shard} `));
  }
}

/** Every node counts on its own: an agent's changes stay in their order while it stays on its node. */
async function replaceIdentities(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(
    `select from pg_attribute where attrelid = 'test_state_changes'::regclass and attname = 'id' and attidentity <> ''`,
  );
  if (rowCount === 0) return;
  await client.query("alter table test_state_changes alter column id drop identity");
  await client.query("create sequence test_state_changes_ids owned by test_state_changes.id");
  await client.query(
    "select setval('test_state_changes_ids', (select coalesce(max(id), 0) + 1 from test_state_changes), false)",
  );
  await client.query(
    "alter table test_state_changes alter column id set default nextval('test_state_changes_ids')",
  );
}

/** Every node has the functions that statements call. */
async function shareFunctions(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ signature: string }>(
    `select f.oid::regprocedure::text as signature from pg_proc f join pg_language l on l.oid = f.prolang
      where f.pronamespace = 'public'::regnamespace and l.lanname in ('sql', 'plpgsql')
        and not exists (select from pg_depend d where d.objid = f.oid and d.deptype = 'e')
      -- Functions in SQL first, which others may call.
      order by l.lanname desc`,
  );
  for (const { signature } of rows) await client.query("select create_distributed_function($1)", [signature]);
}
