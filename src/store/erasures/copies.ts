// Where texts of tests, traces and replies are copied to, beside the traces that an erasure deletes: read and rewritten.
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Database } from "../db.ts";
import { placeOf, placesOfProject } from "../scale/places.ts";

type ColumnKind = "text" | "json" | "zstd";

export type CopyPlace = {
  table: string;
  /** The columns that identify a row, in their order, with their types. */
  keys: [name: string, type: string][];
  /** Rows belong to traces, launches or agents. */
  owner: "trace_id" | "launch_id" | "agent_id";
  columns: Record<string, ColumnKind>;
};

const runColumns = { detail: "zstd", error: "text", waiting_reason: "text" } as const;

export const placesOfTraces: CopyPlace[] = [
  { table: "runs", keys: [["id", "uuid"]], owner: "trace_id", columns: runColumns },
  { table: "labels", keys: [["id", "uuid"]], owner: "trace_id", columns: { question: "zstd" } },
  {
    table: "backtest_results",
    keys: [
      ["backtest_id", "uuid"],
      ["trace_id", "uuid"],
    ],
    owner: "trace_id",
    columns: { reason: "text" },
  },
];

export const placesOfLaunches: CopyPlace[] = [
  { table: "runs", keys: [["id", "uuid"]], owner: "launch_id", columns: runColumns },
  {
    table: "launch_tests",
    keys: [
      ["launch_id", "uuid"],
      ["test_id", "uuid"],
    ],
    owner: "launch_id",
    columns: { document: "json", name: "text" },
  },
];

export const placesOfAgents: CopyPlace[] = [
  {
    table: "judge_calls",
    keys: [["id", "uuid"]],
    owner: "agent_id",
    columns: { detail: "zstd", reason: "text" },
  },
  { table: "backtests", keys: [["id", "uuid"]], owner: "agent_id", columns: { test: "json", error: "text" } },
  {
    table: "alert_deliveries",
    keys: [["id", "uuid"]],
    owner: "agent_id",
    columns: { body: "json", error: "text" },
  },
];

export type CopyRow = { keys: string[]; stored: Record<string, string | Buffer | null> };

/** Deliveries are where alerts are sent from. */
async function databaseOf(db: Database, table: string, agentId: string): Promise<Database> {
  return table === "alert_deliveries" ? db : placeOf(db, agentId);
}

/** The next rows of these owners of the agent, in the order of their keys. */
export async function listCopies(
  db: Database,
  { table, keys, owner, columns }: CopyPlace,
  agentId: string,
  owners: string[],
  after: string[] | null,
  rowsMax: number,
): Promise<CopyRow[]> {
  const names = keys.map(([name]) => name);
  const bounds = keys.map(([, type], at) => `$${at + 4}::${type}`).join(", ");
  const place = await databaseOf(db, table, agentId);
  const { rows } = await place.pool.query<Record<string, string | Buffer | null>>(
    `select ${[...names.map(name => `${name}::text as "key_${name}"`), ...Object.keys(columns)].join(", ")}
     from ${table} where agent_id = $3 and ${owner} = any ($1::uuid[])${after ? ` and (${names.join(", ")}) > (${bounds})` : ""}
     order by ${names.join(", ")} limit $2`,
    [owners, rowsMax, agentId, ...(after ?? [])],
  );
  return rows.map(row => ({
    keys: names.map(name => row[`key_${name}`] as string),
    stored: Object.fromEntries(Object.keys(columns).map(name => [name, row[name] ?? null])),
  }));
}

/** The JSON of a column as bytes, or a text as it is; null if there is none. */
export function readCopy(kind: ColumnKind, stored: string | Buffer | null): Buffer | string | null {
  if (stored === null) return null;
  if (kind === "zstd") return zstdDecompressSync(stored as Buffer);
  return kind === "json" ? Buffer.from(stored as string) : (stored as string);
}

/** Writes changed values, unless a row has changed meanwhile; false: it has, and is to be read again. */
export async function rewriteCopy(
  db: Database,
  { table, keys, columns }: CopyPlace,
  agentId: string,
  row: CopyRow,
  changed: Record<string, unknown>,
): Promise<boolean> {
  const names = Object.keys(changed);
  const values = names.map(name => {
    const value = changed[name];
    if (columns[name] === "text") return value;
    const json = JSON.stringify(value);
    return columns[name] === "zstd" ? zstdCompressSync(json) : json;
  });
  const found = keys.map(([name, type], at) => `${name} = $${at + 2}::${type}`);
  const same = names.map((name, at) => `${name} = $${keys.length + names.length + at + 2}`);
  const place = await databaseOf(db, table, agentId);
  const { rowCount } = await place.pool.query(
    `update ${table} set ${names.map((name, at) => `${name} = $${keys.length + at + 2}`).join(", ")}
     where ${["agent_id = $1", ...found, ...same].join(" and ")}`,
    [agentId, ...row.keys, ...values, ...names.map(name => row.stored[name])],
  );
  return rowCount === 1;
}

export type WaitingRow = { otlpTraceId: string; id: string; records: Buffer };

export async function listWaitingOfAgent(db: Database, agentId: string): Promise<WaitingRow[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<WaitingRow>(
    `select otlp_trace_id as "otlpTraceId", id, records from waiting_records where agent_id = $1`,
    [agentId],
  );
  return rows;
}

export async function deleteWaitingRows(db: Database, agentId: string, rows: WaitingRow[]): Promise<void> {
  await (await placeOf(db, agentId)).pool.query(
    `delete from waiting_records w using unnest($2::text[], $3::uuid[]) as found (otlp_trace_id, id)
     where w.agent_id = $1 and w.otlp_trace_id = found.otlp_trace_id and w.id = found.id`,
    [agentId, rows.map(({ otlpTraceId }) => otlpTraceId), rows.map(({ id }) => id)],
  );
}

export type InputRow = { agentId: string; launchId: string; testId: string; row: number; input: string };

export async function listInputsOfLaunches(db: Database, launchIds: string[]): Promise<InputRow[]> {
  const { rows } = await db.pool.query<InputRow>(
    `select i.agent_id as "agentId", i.launch_id as "launchId", i.test_id as "testId", i.row, i.input
     from launches l join launch_inputs i on i.agent_id = l.agent_id and i.launch_id = l.id
     where l.id = any ($1::uuid[])`,
    [launchIds],
  );
  return rows;
}

/** Deletes the runs that send this input, and with the last of them the input. */
export async function deleteRunsOfInput(
  db: Database,
  { agentId, launchId, testId, row }: InputRow,
): Promise<void> {
  const values = [agentId, launchId, testId, row];
  await (await placeOf(db, agentId)).pool.query(
    "delete from runs where agent_id = $1 and launch_id = $2 and test_id = $3 and test_row = $4 and kind = 'manual'",
    values,
  );
  await (await placeOf(db, agentId)).pool.query(
    "delete from launch_inputs where agent_id = $1 and launch_id = $2 and test_id = $3 and row = $4",
    values,
  );
}

export type AnswerRow = { key: string; answer: string };

/** Cached answers of the judge for an agent, in the order of their keys. */
export async function listAnswers(
  db: Database,
  agentId: string,
  after: string,
  rowsMax: number,
): Promise<AnswerRow[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<AnswerRow>(
    `select encode(key, 'hex') as key, answer from judge_answers
     where agent_id = $1 and key > decode($2, 'hex') order by key limit $3`,
    [agentId, after, rowsMax],
  );
  return rows;
}

export async function deleteAnswers(db: Database, agentId: string, keys: string[]): Promise<void> {
  await (await placeOf(db, agentId)).pool.query(
    "delete from judge_answers where agent_id = $1 and key in (select decode(k, 'hex') from unnest($2::text[]) as keys (k))",
    [agentId, keys],
  );
}

/** Counts under a name that has the text: of models as of an unknown one, of service names not at all. */
export async function forgetNames(db: Database, projectId: string, values: string[]): Promise<void> {
  const has = (column: string) =>
    `exists (select from unnest($2::text[]) as v (v) where strpos(${column}, v) > 0)`;
  for (const place of await placesOfProject(db, projectId)) {
    await place.pool.query(
      `with gone as (
         delete from model_hours m using agents a
         where a.id = m.agent_id and a.project_id = $1 and (${has("m.provider")} or ${has("m.model")}) returning m.*
       )
       insert into model_hours as known (agent_id, hour, provider, model, prompt_above, calls, unmeasured, input_tokens,
         cached_tokens, cache_write_tokens, output_tokens)
       select agent_id, hour, '', '', prompt_above, sum(calls), sum(unmeasured), sum(input_tokens), sum(cached_tokens),
         sum(cache_write_tokens), sum(output_tokens)
       from gone group by agent_id, hour, prompt_above
       on conflict (agent_id, hour, provider, model, prompt_above) do update set calls = known.calls + excluded.calls,
         unmeasured = known.unmeasured + excluded.unmeasured,
         input_tokens = known.input_tokens + excluded.input_tokens,
         cached_tokens = known.cached_tokens + excluded.cached_tokens,
         cache_write_tokens = known.cache_write_tokens + excluded.cache_write_tokens,
         output_tokens = known.output_tokens + excluded.output_tokens`,
      [projectId, values],
    );
  }
  await db.pool.query(`delete from ingestion_minutes where project_id = $1 and ${has("service_name")}`, [
    projectId,
    values,
  ]);
}

/** Whether evaluations run that began before this time: they may still store copies of tests as they were. */
export async function hasOlderRuns(db: Database, projectId: string, before: Date): Promise<boolean> {
  const { rows } = await db.pool.query<{ some: boolean }>(
    `select exists (
       select 1 from agents a join runs r on r.agent_id = a.id and r.state = 'running'
       where a.project_id = $1 and r.lease is not null and r.started_at < $2
     ) as some`,
    [projectId, before],
  );
  return rows[0]!.some;
}
