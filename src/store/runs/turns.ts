// The turns of manual runs, and the traces that agents sent for them.
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { cutReply, type RedactedTurn, type RunTurn, turnWithoutReply } from "../../model/run/launch.ts";
import { placeOf, placeOfRow } from "../cluster/routing.ts";
import { forgetAfter } from "../content-deadlines.ts";
import type { Database } from "../db.ts";
import { idsOfRuns } from "./all-runs.ts";

/** As SQL over `runs r`: whether the trace of a turn has changed since the run was evaluated, and can still be read. */
export const changedTrace = `exists (
    select from run_turns u join traces changed on changed.agent_id = u.agent_id and changed.id = u.trace_id
    where u.agent_id = r.agent_id and u.run_id = r.id and u.revision <> changed.revision
      and changed.content is distinct from 'forgotten'
  )`;

/** As SQL over `run_turns u`. Quotes inside JSON strings are escaped, so only the keys themselves match. */
export const differingTurn = `strpos(u.document, '"statusInTrace":') > 0 or strpos(u.document, '"replyInTrace":') > 0`;

/**
 * Updates a turn with its reply or its trace. A longer text is stored whole, but `listTurns` reads the start of it; of
 * an agent that stores no content, none is. Where content is forgotten, so is the run: a turn that never gets a trace has a
 * reply, too. `gone` if the turn was deleted, with the run or with the trace of another turn;
 * `changed` if the privacy settings by which it was redacted have another revision now.
 */
export async function saveTurn(
  db: Database,
  { id: runId, agentId }: { id: string; agentId: string },
  redacted: RedactedTurn,
  privacyRevision: number,
): Promise<"saved" | "gone" | "changed"> {
  const { sent, ...turn } = redacted;
  const text = turn.text && cutReply(turn.text);
  const { rows } = await (await placeOf(db, agentId)).pool.query<{ saved: boolean; changed: boolean }>(
    // The agent is locked so that a change of what may be stored waits for this commit, or this statement sees the change.
    `with agent as materialized (
       select content = 'none' as is_silent, privacy_revision, ${forgetAfter} as after_s
       from agents a where id = $7 for key share
     ), saved as (
       update run_turns set document = case when is_silent then $6 else $3 end, trace_id = $4,
           reply = case when is_silent then null else $5::bytea end, waited_ms = $9,
           sent = case when is_silent then null else $10 end
         from agent where agent_id = $7 and run_id = $1 and turn = $2 and privacy_revision = $8 returning 1
     ), noted as (
       insert into content_deadlines as known (agent_id, subject_id, after_s, check_at)
         select $7, $1, after_s, now() + after_s * interval '1 s' from agent
         where after_s is not null and exists (select from saved)
         on conflict (agent_id, subject_id) do update set after_s = least(known.after_s, excluded.after_s)
     )
     select exists (select from saved) as saved, privacy_revision <> $8 as changed from agent`,
    [
      runId,
      turn.turn,
      JSON.stringify({ ...turn, text }),
      turn.traceId,
      text === turn.text ? null : zstdCompressSync(JSON.stringify(turn.text)),
      JSON.stringify(turnWithoutReply(turn, "none")),
      agentId,
      privacyRevision,
      turn.waitedMs ?? null,
      sent ? JSON.stringify(sent) : null,
    ],
  );
  if (rows[0]?.changed) return "changed";
  return rows[0]?.saved ? "saved" : "gone";
}

/** The turns of a run in their order, with the whole text of each reply. */
export async function listWholeTurns(db: Database, runId: string): Promise<RunTurn[]> {
  const { rows } = await (await placeOfRow(db, "runs", runId)).pool.query<{
    document: string;
    reply: Buffer | null;
  }>(
    `select u.document, u.reply from ${idsOfRuns("id = $1")} r
       join run_turns u on u.agent_id = r.agent_id and u.run_id = r.id order by u.turn`,
    [runId],
  );
  return rows.map(({ document, reply }) => {
    const turn: RunTurn = JSON.parse(document);
    return reply ? { ...turn, text: JSON.parse(zstdDecompressSync(reply).toString()) } : turn;
  });
}

/** The turns of these runs by run, in order. */
export async function listTurns(db: Database, runIds: string[]): Promise<Map<string, RunTurn[]>> {
  const { rows } = await db.pool.query<{ run_id: string; document: string }>(
    `select u.run_id, u.document from ${idsOfRuns("id = any ($1::uuid[])")} r
       join run_turns u on u.agent_id = r.agent_id and u.run_id = r.id order by u.run_id, u.turn`,
    [runIds],
  );
  const turns = new Map<string, RunTurn[]>();
  for (const { run_id, document } of rows) {
    turns.set(run_id, [...(turns.get(run_id) ?? []), JSON.parse(document) as RunTurn]);
  }
  return turns;
}

export type ArrivedTrace = {
  traceId: string;
  path: "canonical" | "otlp";
  revision: number;
  /** Since its last batch. */
  quietMs: number;
};

/** The first trace with one of these identities. */
export async function findArrived(
  db: Database,
  agentId: string,
  externalIds: string[],
): Promise<ArrivedTrace | undefined> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<ArrivedTrace>({
    name: "find_arrived",
    text: `select traces.id as "traceId", path, revision, extract(epoch from now() - updated_at)::float8 * 1000 as "quietMs"
      from unnest($2::text[]) as sought (id)
      join trace_identities named on named.agent_id = $1 and named.external_id = sought.id
      join traces on traces.id = named.trace_id
      order by received_at, traces.id limit 1`,
    values: [agentId, externalIds],
  });
  return rows[0];
}

/** Deletes expected identities that are older than a day. */
export async function dropExpected(db: Database): Promise<void> {
  await db.pool.query("delete from expected_traces where created_at < now() - interval '1 day'");
}
