// Erasures and dry runs: inserted, listed and read; the criterion is stored encrypted, and only while it is needed.
import type pg from "pg";
import { advisoryLockSeeds } from "../model/advisory-locks.ts";
import type { CriterionKind, ErasurePlace, ErasureState } from "../model/erasure.ts";
import { Refusal } from "../model/refusal.ts";
import { type Database, transaction } from "./db.ts";
import type { Listing } from "./listing.ts";
import { newId } from "./new-id.ts";
import { openLimit } from "./open-limit.ts";
import type { Vault } from "./secrets/vault.ts";

/** `values`: as they were asked for, without pseudonyms. */
export type SealedErasure = { values: string[] };

export type Erasure = {
  id: string;
  projectId: string;
  createdBy: string | null;
  createdAt: Date;
  finishedAt: Date | null;
  criterion: CriterionKind;
  dryRun: boolean;
  state: ErasureState;
  step: ErasureStep;
  confirmed: number | null;
  traces: number;
  read: number;
  matched: number;
  erased: number;
  attempts: number;
  error: string | null;
};

const columns = `e.id, e.project_id as "projectId", e.created_by as "createdBy", e.created_at as "createdAt",
  e.finished_at as "finishedAt", e.criterion, e.dry_run as "dryRun", e.state, e.step, e.confirmed, e.traces, e.read,
  e.matched, e.erased, e.attempts, e.error`;

/** How long a dry run can be confirmed, and is kept. */
export const dryRunMs = 3_600_000;

/** The steps of an erasure in their order; a dry run only finds. */
export const erasureSteps = [
  "find",
  "turns",
  "check",
  "waiting",
  "joined",
  "drafts",
  "traces",
  "identities",
  "quotes",
] as const;
export type ErasureStep = (typeof erasureSteps)[number];

export async function findErasure(db: Database, id: string): Promise<Erasure | undefined> {
  const { rows } = await db.pool.query<Erasure>(`select ${columns} from erasures e where e.id = $1`, [id]);
  return rows[0];
}

/** Without dry runs, newest first. `createdByEmail`: null once the account is gone. */
export async function listErasures(
  db: Database,
  projectId: string,
  { before, rowsMax }: Listing,
): Promise<(Erasure & { createdByEmail: string | null })[]> {
  const { rows } = await db.pool.query<Erasure & { createdByEmail: string | null }>(
    `select ${columns}, a.email as "createdByEmail" from erasures e left join accounts a on a.id = e.created_by
     where e.project_id = $1 and e.id < $2 and not e.dry_run order by e.id desc limit $3`,
    [projectId, before, rowsMax],
  );
  return rows;
}

export type NewErasure = {
  projectId: string;
  createdBy: string;
  criterion: CriterionKind;
  sealed: SealedErasure;
};

/** What seals a column of the erasure's row. */
export const sealedFor = (id: string) => `erasure:${id}`;

/** Throws CONFLICT if too many of the project have not ended. */
export async function insertDryRun(db: Database, vault: Vault, erasure: NewErasure): Promise<string> {
  const id = newId();
  await transaction(db, async client => {
    await client.query(insertSql, [...valuesOf(vault, id, erasure), "find", true, null, null]);
    await running.requireStillRoom(client, erasure.projectId);
  });
  return id;
}

const insertSql = `insert into erasures (id, project_id, created_by, criterion, sealed, step, traces, dry_run,
    confirmed, since)
  select $1, $2, $3, $4, $5, $6, (
    select count(*)::int from agents a join traces t on t.agent_id = a.id where a.project_id = $2
  ), $7, $8, $9`;

function valuesOf(vault: Vault, id: string, erasure: NewErasure): unknown[] {
  const { projectId, createdBy, criterion, sealed } = erasure;
  return [id, projectId, createdBy, criterion, vault.seal(JSON.stringify(sealed), sealedFor(id))];
}

/** The dry runs of the same criterion that have ended within the hour, newest first. */
export async function listDryRuns(
  db: Database,
  vault: Vault,
  { projectId, criterion, sealed }: NewErasure,
): Promise<Erasure[]> {
  const { rows } = await db.pool.query<Erasure & { sealed: Buffer | null }>(
    `select ${columns}, e.sealed from erasures e
     where e.project_id = $1 and e.dry_run and e.state = 'done' and e.criterion = $2
       and e.finished_at > now() - $3::float8 * interval '1 ms'
     order by e.id desc limit 100`,
    [projectId, criterion, dryRunMs],
  );
  const wanted = JSON.stringify(sealed.values);
  return rows.flatMap(({ sealed, ...dryRun }) => {
    const values = sealed && openSealed(vault, dryRun.id, sealed)?.values;
    return JSON.stringify(values) === wanted ? [dryRun] : [];
  });
}

export function openSealed(vault: Vault, id: string, sealed: Buffer): SealedErasure | undefined {
  const text = vault.open(sealed, sealedFor(id));
  return text === undefined ? undefined : (JSON.parse(text) as SealedErasure);
}

/**
 * Begins with what the dry run found, so that only traces that changed since then are read again, these among them. Throws
 * CONFLICT if too many of the project have not ended.
 */
export async function insertErasure(
  db: Database,
  vault: Vault,
  erasure: NewErasure,
  { dryRun, confirmed }: { dryRun: Erasure; confirmed: number },
): Promise<string> {
  const id = newId();
  await transaction(db, async client => {
    // A trace that a request was storing when the dry run began may have an earlier time.
    const since = new Date(dryRun.createdAt.getTime() - sinceSlackMs);
    await client.query(insertSql, [...valuesOf(vault, id, erasure), "find", false, confirmed, since]);
    await client.query(
      `insert into erasure_matches (agent_id, erasure_id, trace_id)
       select agent_id, $1, trace_id from erasure_matches where erasure_id = $2`,
      [id, dryRun.id],
    );
    await countMatches(client, id);
    await running.requireStillRoom(client, erasure.projectId);
  });
  return id;
}

const sinceSlackMs = 120_000;

export async function countMatches(client: pg.PoolClient, id: string): Promise<number> {
  const { rows } = await client.query<{ matched: number }>(
    `update erasures set matched = (select count(*) from erasure_matches where erasure_id = $1)
     where id = $1 returning matched`,
    [id],
  );
  return rows[0]?.matched ?? 0;
}

export async function deleteErasure(db: Database, id: string): Promise<void> {
  await transaction(db, async client => {
    await client.query("delete from erasure_matches where erasure_id = $1", [id]);
    await client.query("delete from erasures where id = $1", [id]);
  });
}

export type FoundMatch = ErasurePlace & { traceId: string; agentId: string };

/** The first matches of a dry run that are still stored. */
export async function listMatches(db: Database, vault: Vault, id: string): Promise<FoundMatch[]> {
  const { rows } = await db.pool.query<{ traceId: string; agentId: string; place: Buffer }>(
    `select m.trace_id as "traceId", t.agent_id as "agentId", m.place
     from erasure_matches m join traces t on t.agent_id = m.agent_id and t.id = m.trace_id
     where m.erasure_id = $1 and m.place is not null order by m.trace_id`,
    [id],
  );
  return rows.flatMap(({ traceId, agentId, place }) => {
    const text = vault.open(place, sealedFor(id));
    return text === undefined ? [] : [{ traceId, agentId, ...(JSON.parse(text) as ErasurePlace) }];
  });
}

/** What was asked for; undefined once it is forgotten, or if it was encrypted with another key. */
export async function findSealed(db: Database, vault: Vault, id: string): Promise<SealedErasure | undefined> {
  const { rows } = await db.pool.query<{ sealed: Buffer | null }>(
    "select sealed from erasures where id = $1",
    [id],
  );
  const sealed = rows[0]?.sealed;
  return sealed ? openSealed(vault, id, sealed) : undefined;
}

const runningMax = 5;
const running = openLimit({
  max: runningMax,
  seed: advisoryLockSeeds.runningErasures,
  countSql: "select count(*)::int as count from erasures where project_id = $1 and state = 'running'",
  refusal: () =>
    new Refusal("CONFLICT", {
      message: `A project has at most ${runningMax} erasures and dry runs at a time.`,
      hint: "Wait for one to finish.",
    }),
});

/** Throws CONFLICT if the project has as many unfinished erasures and dry runs as it may have. */
export async function requireRoom({ pool }: Database, projectId: string): Promise<void> {
  await running.requireRoom(pool, projectId);
}
