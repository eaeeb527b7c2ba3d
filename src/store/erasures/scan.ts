// What an erasure reads to find traces: those of a project in the order of their ids, and the turns of its manual runs.
import type { ConventionRule } from "../../model/agent/read-by.ts";
import { partsOfRows, placeOf, placeOfRow, placesOfProject } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { idsOfRuns } from "../runs/all-runs.ts";

export type ScannedAgent = { id: string; conventionRules: ConventionRule[] };

export async function listAgentsToScan(db: Database, projectId: string): Promise<ScannedAgent[]> {
  const { rows } = await db.pool.query<ScannedAgent>(
    `select id, convention_rules as "conventionRules" from agents where project_id = $1 order by id`,
    [projectId],
  );
  return rows;
}

/** `changed`: since the given time. `texts`: what its columns have, which lists show. */
export type ScannedTrace = {
  id: string;
  bytes: number;
  changed: boolean;
  conversationId: string | null;
  userId: string | null;
  texts: string[];
};

const scannedColumns = `batch_bytes as bytes, conversation_id as "conversationId", user_id as "userId",
  array_remove(array[external_id, name, user_input, response_text, conversation_id, user_id]
    || tools || models || providers, null) as texts`;

/** The next traces of an agent with ids above `after` and at most `through`. */
export async function listTracesToScan(
  db: Database,
  { agentId, after, through, since }: { agentId: string; after: string; through: string; since: Date | null },
  rowsMax: number,
): Promise<ScannedTrace[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<ScannedTrace>({
    name: "list_traces_to_scan",
    text: `select id, $4::timestamptz is null or updated_at >= $4 as changed, ${scannedColumns}
      from traces where agent_id = $1 and id > $2 and id <= $3 order by id limit $5`,
    values: [agentId, after, through, since, rowsMax],
  });
  return rows;
}

/** These traces, as far as they exist. */
export async function listTracesToCheck(
  db: Database,
  traceIds: string[],
  since: Date | null,
): Promise<(ScannedTrace & { agentId: string; revision: number })[]> {
  const found: (ScannedTrace & { agentId: string; revision: number })[] = [];
  for (const [place, ids] of await partsOfRows(db, "traces", traceIds)) {
    const { rows } = await place.pool.query<(typeof found)[number]>(
      `select id, agent_id as "agentId", revision, $2::timestamptz is null or updated_at >= $2 as changed, ${scannedColumns}
       from traces where id = any ($1::uuid[]) order by id`,
      [ids, since],
    );
    found.push(...rows);
  }
  return found;
}

/** Traces by their external ids, or by the OTLP trace ids under which their log records come. */
export async function listByExternalId(db: Database, projectId: string, ids: string[]): Promise<string[]> {
  const found: string[] = [];
  const places = await placesOfProject(db, projectId);
  for (const place of places) {
    const { rows } = await place.pool.query<{ id: string }>(
      `select t.id from agents a cross join unnest($2::text[]) as sought (id)
         join trace_identities named on named.agent_id = a.id and named.external_id = sought.id
         join traces t on t.id = named.trace_id where a.project_id = $1
       union
       select o.trace_id from agents a
         join trace_otlp_ids o on o.agent_id = a.id and o.otlp_trace_id = any ($2::text[])
         where a.project_id = $1
       order by 1`,
      [projectId, ids],
    );
    found.push(...rows.map(({ id }) => id));
  }
  return places.length > 1 ? found.sort((one, other) => (one < other ? -1 : 1)) : found;
}

/** Those of the traces that belong to the project. */
export async function listOfProject(db: Database, projectId: string, ids: string[]): Promise<string[]> {
  const { rows } = await db.pool.query<{ id: string }>(
    `select t.id from traces t join agents a on a.id = t.agent_id
     where a.project_id = $1 and t.id = any ($2::uuid[]) order by 1`,
    [projectId, ids],
  );
  return rows.map(({ id }) => id);
}

export type ScannedTurn = {
  runId: string;
  turn: number;
  traceId: string | null;
  document: string;
  reply: Buffer | null;
};

/** The next launches of an agent, in the order of their ids. */
export async function listLaunchesToScan(
  db: Database,
  agentId: string,
  after: string,
  rowsMax: number,
): Promise<string[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<{ id: string }>(
    "select id from launches where agent_id = $1 and id > $2 order by id limit $3",
    [agentId, after, rowsMax],
  );
  return rows.map(({ id }) => id);
}

/** The turns of a launch with (run, turn) above these, with replies that are stored apart. */
export async function listTurnsToScan(
  db: Database,
  launchId: string,
  after: { runId: string; turn: number },
  rowsMax: number,
): Promise<ScannedTurn[]> {
  const { rows } = await (await placeOfRow(db, "launches", launchId)).pool.query<ScannedTurn>(
    `select u.run_id as "runId", u.turn, u.trace_id as "traceId", u.document, u.reply
     from ${idsOfRuns("launch_id = $1")} r join run_turns u on u.agent_id = r.agent_id and u.run_id = r.id
     where (u.run_id, u.turn) > ($2::uuid, $3::int) order by u.run_id, u.turn limit $4`,
    [launchId, after.runId, after.turn, rowsMax],
  );
  return rows;
}

/** The turns of manual runs that belong to these traces. */
export async function listTurnsOfTraces(db: Database, traceIds: string[]): Promise<ScannedTurn[]> {
  const found: ScannedTurn[] = [];
  for (const [place, ids] of await partsOfRows(db, "traces", traceIds)) {
    const { rows } = await place.pool.query<ScannedTurn>(
      `select run_id as "runId", turn, trace_id as "traceId", document, reply from run_turns
       where trace_id = any ($1::uuid[])`,
      [ids],
    );
    found.push(...rows);
  }
  return found;
}
