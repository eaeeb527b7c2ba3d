// Reads stored traces, and deletes them.

import type { TraceKind, TracePath } from "../../model/trace/trace.ts";
import type { TraceColumns } from "../../reading/derived/columns.ts";
import { partsOfRows, placeOf, placeOfRow, placesOfProject } from "../cluster/routing.ts";
import type { Database } from "../db.ts";

export type TraceRow = Omit<TraceColumns, "tools" | "models" | "providers" | "redacted" | "startedAtUs"> & {
  /** Rules; null: nothing was redacted. */
  redacted: string[] | null;
  id: string;
  agentId: string;
  externalId: string;
  kind: TraceKind;
  path: TracePath;
  revision: number;
  derivedRevision: number;
  receivedAt: Date;
  updatedAt: Date;
  /** When its content was dropped; null: it was not. */
  contentForgottenAt: Date | null;
};

/** For a query over `traces t`. */
export const traceColumns = `t.id, t.agent_id as "agentId", t.external_id as "externalId", t.kind, t.path, t.revision,
  t.derived_revision as "derivedRevision", t.received_at as "receivedAt", t.updated_at as "updatedAt", t.name,
  t.duration_ms as "durationMs", t.http_status as "httpStatus", t.input_tokens as "inputTokens",
  t.output_tokens as "outputTokens", t.reasoning_tokens as "reasoningTokens", t.cached_tokens as "cachedTokens", t.usage, t.failed,
  t.span_count as "spanCount", t.user_input as "userInput", t.response_text as "responseText",
  t.conversation_id as "conversationId", t.user_id as "userId", t.content_forgotten_at as "contentForgottenAt",
  t.redacted`;

/** Does not check the owner. */
export async function findTrace(db: Database, id: string): Promise<TraceRow | undefined> {
  const { rows } = await db.pool.query<TraceRow>({
    name: "find_trace",
    text: `select ${traceColumns} from traces t where t.id = $1`,
    values: [id],
  });
  return rows[0];
}

export type TraceSize = { traceId: string; revision: number; bytes: number; readBy: string };

/**
 * The trace's revision, the size of its batches before compression, and the key of what its agent's traces are read by, with
 * when it was forgotten: what was read before is not what is stored.
 */
export async function findTraceSize(db: Database, id: string): Promise<TraceSize | undefined> {
  const { rows } = await (await placeOfRow(db, "traces", id)).pool.query<TraceSize>({
    name: "find_trace_size",
    text: `select t.id as "traceId", t.revision, t.batch_bytes as bytes,
        a.read_by_key || coalesce(' ' || t.content_forgotten_at, '') as "readBy"
      from traces t join agents a on a.id = t.agent_id where t.id = $1`,
    values: [id],
  });
  return rows[0];
}

/** The size of each trace's batches before compression. */
export async function findTraceSizes(db: Database, ids: string[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const [place, part] of await partsOfRows(db, "traces", ids)) {
    const { rows } = await place.pool.query<{ id: string; bytes: number }>({
      name: "find_trace_sizes",
      text: "select id, batch_bytes as bytes from traces where id = any ($1::uuid[])",
      values: [part],
    });
    for (const { id, bytes } of rows) sizes.set(id, bytes);
  }
  return sizes;
}

const newestFirst = (one: { id: string }, other: { id: string }) => (one.id < other.id ? 1 : -1);

/** Deletes the trace with its batches and runs; false if it did not exist. */
export async function deleteTrace(db: Database, id: string): Promise<boolean> {
  const { rowCount } = await (await placeOfRow(db, "traces", id)).pool.query(
    "select delete_traces(array[$1::uuid])",
    [id],
  );
  return rowCount === 1;
}

/** Deletes those of these traces that belong to the agent, and returns their ids. */
export async function deleteTraces(db: Database, agentId: string, ids: string[]): Promise<string[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<{ id: string }>(
    `select id from delete_traces(array(select id from traces where agent_id = $1 and id = any ($2::uuid[]))) as id`,
    [agentId, ids],
  );
  return rows.map(({ id }) => id);
}

/** The latest traces of an agent and the size of their batches before compression, newest first. */
export async function listLatestSizes(
  db: Database,
  agentId: string,
  rowsMax: number,
): Promise<{ id: string; bytes: number }[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<{ id: string; bytes: number }>({
    name: "list_latest_sizes",
    text: `select id, batch_bytes as bytes from traces where agent_id = $1 order by id desc limit $2`,
    values: [agentId, rowsMax],
  });
  return rows;
}

/** The latest traces of all agents of a project and the size of their batches before compression, newest first. */
export async function listLatestOfProject(
  db: Database,
  projectId: string,
  rowsMax: number,
): Promise<{ id: string; agentId: string; bytes: number }[]> {
  const latest: { id: string; agentId: string; bytes: number }[] = [];
  const places = await placesOfProject(db, projectId);
  for (const place of places) {
    const { rows } = await place.pool.query<(typeof latest)[number]>({
      name: "list_latest_of_project",
      text: `select t.id, t.agent_id as "agentId", t.batch_bytes as bytes
        from agents a cross join lateral (
          select id, agent_id, batch_bytes from traces where agent_id = a.id order by id desc limit $2
        ) t where a.project_id = $1 order by t.id desc limit $2`,
      values: [projectId, rowsMax],
    });
    latest.push(...rows);
  }
  return places.length > 1 ? latest.sort(newestFirst).slice(0, rowsMax) : latest;
}

/** Traces of manual runs may lie between those of live traffic: this many are searched. */
const latestTracesMax = 2_000;

/** A backtest looks further back. */
const latestLiveMax = 5_000;

/** The latest live traces of an agent and the size of their batches before compression, newest first. */
export async function listLatestLive(
  db: Database,
  agentId: string,
  rowsMax: number,
): Promise<{ id: string; bytes: number }[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<{ id: string; bytes: number }>({
    name: "list_latest_live",
    text: `select id, batch_bytes as bytes
      from (select id, batch_bytes, kind from traces where agent_id = $1 order by id desc limit ${latestLiveMax}) latest
      where kind = 'live' order by id desc limit $2`,
    values: [agentId, rowsMax],
  });
  return rows;
}

/** `input` has at most 500 characters. Null: there is none or, where `derived` is false, it is not known yet. */
export type LatestInput = {
  id: string;
  bytes: number;
  input: string | null;
  derived: boolean;
};

/** The latest user inputs of the agent's live traces that have their content, newest first. */
export async function listLatestInputs(
  db: Database,
  agentId: string,
  rowsMax: number,
): Promise<LatestInput[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<LatestInput>({
    name: "list_latest_inputs",
    text: `select id, batch_bytes as bytes, user_input as input, derived_revision = revision as derived
      from (select * from traces where agent_id = $1 order by id desc limit ${latestTracesMax}) latest
      where kind = 'live' and content is null order by id desc limit $2`,
    values: [agentId, rowsMax],
  });
  return rows;
}

/** The user inputs of these traces of the agent, in the order of `ids`. */
export async function listInputsOfTraces(
  db: Database,
  agentId: string,
  ids: string[],
): Promise<LatestInput[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<LatestInput>(
    `select t.id, t.batch_bytes as bytes, t.user_input as input, t.derived_revision = t.revision as derived
     from unnest($2::uuid[]) with ordinality as given (id, place) join traces t on t.id = given.id
     where t.agent_id = $1 order by given.place`,
    [agentId, ids],
  );
  return rows;
}
