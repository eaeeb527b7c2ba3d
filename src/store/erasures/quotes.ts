// The rows that may quote a text of traces beside them, which an erasure reads and deletes: manual runs and what they sent, results,
// judge calls and answers, labels, backtests, alerts.

import { placeOf, placesOfProject } from "../cluster/routing.ts";
import { type Database, transaction } from "../db.ts";

export type QuotingTable = {
  table: string;
  /** What identifies a row of an agent, in the order in which rows are read: columns with their types and lowest values. */
  keys: [name: string, type: string, lowest: string][];
  /** Of the row `x`, and of what `join` adds: texts, or zstd-compressed JSON. */
  texts: string[];
  join?: string;
  /** Whether the keys of JSON in them are a user's. */
  isUsers?: boolean;
  /** Which runs `r` go with rows `gone`, as SQL. */
  runs?: string;
  /** Which labels `l` do. */
  labels?: string;
};

const id = (name: string): QuotingTable["keys"][number] => [
  name,
  "uuid",
  "00000000-0000-0000-0000-000000000000",
];
const number = (name: string): QuotingTable["keys"][number] => [name, "int", "-1"];

export const quotingTables: QuotingTable[] = [
  {
    table: "launch_tests",
    keys: [id("launch_id"), id("test_id")],
    texts: ["x.document", "x.name"],
    runs: "r.launch_id = gone.launch_id and r.test_id = gone.test_id",
  },
  {
    table: "launch_inputs",
    keys: [id("launch_id"), id("test_id"), number("row")],
    texts: ["x.input"],
    isUsers: true,
    runs: "r.launch_id = gone.launch_id and r.test_id = gone.test_id and r.test_row = gone.row",
  },
  {
    table: "run_turns",
    keys: [id("run_id"), number("turn")],
    join: `left join runs r on r.agent_id = x.agent_id and r.id = x.run_id
      left join queue q on q.agent_id = x.agent_id and q.id = x.run_id`,
    texts: ["x.document", "x.sent", "x.reply", "r.detail", "r.error", "q.detail", "q.waiting_reason"],
    runs: "r.id = gone.run_id",
  },
  // Before the runs: one that ends meanwhile is among these then.
  { table: "queue", keys: [id("trace_id"), id("id")], texts: ["x.detail", "x.waiting_reason"] },
  {
    table: "runs",
    keys: [id("trace_id"), id("id")],
    // Read in the order of the agent's traces.
    join: "join traces t on t.agent_id = x.agent_id and t.id = x.trace_id",
    texts: ["x.detail", "x.error"],
    labels: "l.run_id = gone.id",
  },
  { table: "labels", keys: [id("id")], texts: ["x.question"] },
  { table: "backtests", keys: [id("id")], texts: ["x.test", "x.error"] },
  { table: "backtest_results", keys: [id("backtest_id"), id("trace_id")], texts: ["x.reason"] },
  { table: "judge_calls", keys: [id("id")], texts: ["x.detail", "x.reason"] },
  { table: "judge_answers", keys: [["key", "bytea", ""]], texts: ["x.answer"], isUsers: true },
  { table: "alert_deliveries", keys: [id("id")], texts: ["x.body", "x.error"] },
];

export type QuotingRow = { keys: string[]; texts: (string | Buffer | null)[] };

/** Deliveries are where alerts are sent from. */
function databaseOf(db: Database, table: string, agentId: string): Promise<Database> | Database {
  return table === "alert_deliveries" ? db : placeOf(db, agentId);
}

/** The next rows of the agent after that with these keys; null: the first ones. */
export async function listQuoting(
  db: Database,
  { table, keys, texts, join = "" }: QuotingTable,
  agentId: string,
  after: string[] | null,
  rowsMax: number,
): Promise<QuotingRow[]> {
  const names = keys.map(([name]) => `x.${name}`).join(", ");
  const bounds = keys.map(([, type], at) => bound(type, at + 3));
  const { pool } = await databaseOf(db, table, agentId);
  const { rows } = await pool.query<{ keys: string[] } & Record<string, QuotingRow["texts"][number]>>(
    `select array[${keys.map(([name, type]) => asText(name, type)).join(", ")}] as keys,
       ${texts.map((text, at) => `${text} as text_${at}`).join(", ")}
     from ${table} x ${join}
     where x.agent_id = $1 and x.${keys[0]![0]} >= ${bounds[0]} and (${names}) > (${bounds.join(", ")})
     order by ${names} limit $2`,
    [agentId, rowsMax, ...(after ?? keys.map(([, , lowest]) => lowest))],
  );
  return rows.map(row => ({ keys: row.keys, texts: texts.map((_, at) => row[`text_${at}`]!) }));
}

const asText = (name: string, type: string) =>
  type === "bytea" ? `encode(x.${name}, 'hex')` : `x.${name}::text`;
const bound = (type: string, at: number) => (type === "bytea" ? `decode($${at}, 'hex')` : `$${at}::${type}`);

/** Deletes these rows, and what goes with them. */
export async function deleteQuoting(
  db: Database,
  { table, keys, runs, labels }: QuotingTable,
  agentId: string,
  found: QuotingRow[],
): Promise<void> {
  const columns = keys.map(([name, type]) => (type === "bytea" ? `decode(${name}, 'hex') as ${name}` : name));
  const types = keys.map(([, type], at) => `$${at + 2}::${type === "bytea" ? "text" : type}[]`);
  const names = keys.map(([name]) => name);
  const gone = `(select ${columns.join(", ")} from unnest(${types.join(", ")}) as item (${names.join(", ")})) gone`;
  const same = names.map(name => `x.${name} = gone.${name}`).join(" and ");
  const values = [agentId, ...keys.map((_, at) => found.map(row => row.keys[at]))];
  await transaction(await databaseOf(db, table, agentId), async client => {
    if (runs) {
      const ofQueue = `select r.id from queue r, ${gone} where r.agent_id = $1 and r.kind = 'manual' and ${runs}`;
      await client.query(`select end_runs(array(${ofQueue}), '')`, values);
      await client.query(`delete from runs r using ${gone} where r.agent_id = $1 and ${runs}`, values);
    }
    if (labels)
      await client.query(`delete from labels l using ${gone} where l.agent_id = $1 and ${labels}`, values);
    await client.query(`delete from ${table} x using ${gone} where x.agent_id = $1 and ${same}`, values);
  });
}

/** Deletes counts under a name that has one of the texts. */
export async function deleteNames(db: Database, projectId: string, texts: string[]): Promise<void> {
  const has = (column: string) =>
    `exists (select from unnest($2::text[]) as v (v) where strpos(${column}, v) > 0)`;
  for (const { pool } of await placesOfProject(db, projectId)) {
    await pool.query(
      `delete from model_hours m using agents a
       where a.id = m.agent_id and a.project_id = $1 and (${has("m.provider")} or ${has("m.model")})`,
      [projectId, texts],
    );
  }
  await db.pool.query(`delete from ingestion_minutes where project_id = $1 and ${has("service_name")}`, [
    projectId,
    texts,
  ]);
}
