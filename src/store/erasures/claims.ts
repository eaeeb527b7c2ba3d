// Erasures that work: claimed under a lease, moved step by step, ended; dry runs are deleted after an hour.
import type pg from "pg";
import type { CriterionKind, ErasurePlace } from "../../model/erasure.ts";
import { type Database, transaction } from "../db.ts";
import { countMatches, dryRunMs, type ErasureStep, erasureSteps, sealedFor } from "../erasures.ts";
import { partsOf, partsOfRows } from "../scale/places.ts";
import type { Vault } from "../secrets/vault.ts";

export type ClaimedErasure = {
  id: string;
  projectId: string;
  criterion: CriterionKind;
  dryRun: boolean;
  sealed: Buffer | null;
  confirmed: number | null;
  since: Date | null;
  step: ErasureStep;
  cursor: string | null;
  matched: number;
  attempts: number;
  createdAt: Date;
};

/** The one that nobody has worked on for longest. One at a step of a newer version is left to its processes, as during an upgrade. */
export async function claimErasure(
  db: Database,
  { lease, leaseMs }: { lease: string; leaseMs: number },
): Promise<ClaimedErasure | undefined> {
  const { rows } = await db.pool.query<ClaimedErasure>({
    name: "claim_erasure",
    text: `update erasures set lease = $1, lease_until = now() + $2::float8 * interval '1 ms' where id = (
        select id from erasures where state = 'running' and (lease_until is null or lease_until <= now())
          and step = any ($3::text[])
        order by coalesce(lease_until, created_at), id limit 1 for update skip locked
      )
      returning id, project_id as "projectId", criterion, dry_run as "dryRun", sealed, confirmed, since, step, cursor,
        matched, attempts, created_at as "createdAt"`,
    values: [lease, leaseMs, erasureSteps],
  });
  return rows[0];
}

/** Those who did a part of an erasure, by their lease. */
export type Holder = { id: string; lease: string; leaseMs: number };

export type Progress = {
  step: ErasureStep;
  cursor: string | null;
  read: number;
  erased: number;
  edited: number;
  matches: { traceId: string; place: ErasurePlace | null }[];
  /** Traces that are no match any more. */
  unmatched: string[];
};

const placesMax = 20;

/** Stores what a part did, and extends the lease; the number of matches, or undefined if another process has it now. */
export async function moveErasure(
  db: Database,
  vault: Vault,
  { id, lease, leaseMs }: Holder,
  { step, cursor, read, erased, edited, matches, unmatched }: Progress,
): Promise<number | undefined> {
  const isSame = matches.length + unmatched.length === 0;
  if (db.places && !isSame) {
    const { rows } = await db.pool.query<{ matched: number }>(
      "select matched from erasures where id = $1 and lease = $2 and state = 'running'",
      [id, lease],
    );
    if (!rows[0]) return undefined;
    const sealed = sealPlaces(vault, id, matches, rows[0].matched);
    const traceIds = matches.map(({ traceId }) => traceId);
    // Before the step that is over with them: what is stored or deleted again changes nothing.
    for (const [place, ids] of await partsOfRows(db, "traces", unmatched)) {
      await deleteMatches(place.pool, id, ids);
    }
    for (const [place, ids] of await partsOfRows(db, "traces", traceIds)) {
      const here = new Set(ids);
      await insertMatches(
        place.pool,
        id,
        sealed.filter(({ traceId }) => here.has(traceId)),
      );
    }
  }
  return transaction(db, async client => {
    const { rows } = await client.query<{ matched: number; erased: number }>(
      `update erasures set step = $3, cursor = $4, read = read + $5, erased = erased + $6, edited = edited + $7,
         attempts = 0, error = null, lease_until = now() + $8::float8 * interval '1 ms'
       where id = $1 and lease = $2 and state = 'running' returning matched, erased`,
      [id, lease, step, cursor, read, erased, edited, leaseMs],
    );
    if (!rows[0]) return undefined;
    if (isSame) return rows[0].matched;
    if (!db.places) {
      await deleteMatches(client, id, unmatched);
      await insertMatches(client, id, sealPlaces(vault, id, matches, rows[0].matched));
    }
    return countMatches(client, id);
  });
}

type SealedMatch = { traceId: string; place: Buffer | null };

/** Where it matched is kept of the first traces only. */
function sealPlaces(vault: Vault, id: string, matches: Progress["matches"], before: number): SealedMatch[] {
  return matches.map(({ traceId, place }, at) => ({
    traceId,
    place: place && before + at < placesMax ? vault.seal(JSON.stringify(place), sealedFor(id)) : null,
  }));
}

async function insertMatches(
  client: Pick<pg.PoolClient, "query">,
  id: string,
  found: SealedMatch[],
): Promise<void> {
  // Locked, so that a deletion of a trace waits and then deletes its row here too.
  await client.query(
    `insert into erasure_matches (agent_id, erasure_id, trace_id, place)
     select t.agent_id, $1, t.id, found.place from unnest($2::uuid[], $3::bytea[]) as found (id, place)
       join traces t on t.id = found.id
     where not exists (select from erasure_matches m where m.agent_id = t.agent_id and m.erasure_id = $1 and m.trace_id = t.id)
     order by t.id for key share of t
     on conflict do nothing`,
    [id, found.map(({ traceId }) => traceId), found.map(({ place }) => place)],
  );
}

async function deleteMatches(
  client: Pick<pg.PoolClient, "query">,
  id: string,
  traceIds: string[],
): Promise<void> {
  await client.query("delete from erasure_matches where erasure_id = $1 and trace_id = any ($2::uuid[])", [
    id,
    traceIds,
  ]);
}

/** Whether the caller still has it. */
export async function extendErasure(db: Database, { id, lease, leaseMs }: Holder): Promise<boolean> {
  const { rowCount } = await db.pool.query(
    `update erasures set lease_until = now() + $3::float8 * interval '1 ms'
     where id = $1 and lease = $2 and state = 'running'`,
    [id, lease, leaseMs],
  );
  return rowCount === 1;
}

/** Ends it. An erasure forgets its criterion, and the dry runs with the same matches are gone with their traces. */
export async function endErasure(
  db: Database,
  { id, lease }: Holder,
  { state, error }: { state: "done" | "failed"; error: string | null },
): Promise<void> {
  await transaction(db, async client => {
    const { rows } = await client.query<{ dry_run: boolean }>(
      `update erasures set state = $3, error = $4, finished_at = now(), lease = null, lease_until = null, cursor = null,
         sealed = case when dry_run and $3 = 'done' then sealed end
       where id = $1 and lease = $2 and state = 'running' returning dry_run`,
      [id, lease, state, error],
    );
    if (rows[0] && !rows[0].dry_run)
      await client.query("delete from erasure_matches where erasure_id = $1", [id]);
  });
}

/** Shows why an attempt failed. The next one begins after the pause, in any process. */
export async function postponeErasure(
  db: Database,
  { id, lease }: Holder,
  { error, pauseMs }: { error: string; pauseMs: number },
): Promise<void> {
  await db.pool.query(
    `update erasures set attempts = attempts + 1, error = $3, lease = null,
       lease_until = now() + $4::float8 * interval '1 ms'
     where id = $1 and lease = $2 and state = 'running'`,
    [id, lease, error, pauseMs],
  );
}

/** Gives it back for another process, or this one after a restart. */
export async function releaseErasure(db: Database, { id, lease }: Holder): Promise<void> {
  await db.pool.query("update erasures set lease = null, lease_until = null where id = $1 and lease = $2", [
    id,
    lease,
  ]);
}

/** Lets the others have their turn after a part of it. Its next part may begin after the pause, in any process. */
export async function yieldErasure(db: Database, { id, lease }: Holder, pauseMs: number): Promise<void> {
  await db.pool.query(
    `update erasures set lease = null, lease_until = now() + $3::float8 * interval '1 ms'
     where id = $1 and lease = $2 and state = 'running'`,
    [id, lease, pauseMs],
  );
}

export async function deleteOldDryRuns(db: Database): Promise<void> {
  await transaction(db, async client => {
    const { rows } = await client.query<{ id: string }>(
      "delete from erasures where dry_run and finished_at < now() - $1::float8 * interval '1 ms' returning id",
      [dryRunMs],
    );
    if (rows.length === 0) return;
    await client.query("delete from erasure_matches where erasure_id = any ($1::uuid[])", [
      rows.map(({ id }) => id),
    ]);
  });
}

const erasedAtOnce = 50;

export type Match = { traceId: string; agentId: string };

/** The next traces that were found. */
export async function listNextMatches(db: Database, id: string): Promise<Match[]> {
  const { rows } = await db.pool.query<Match>(
    `select trace_id as "traceId", agent_id as "agentId" from erasure_matches where erasure_id = $1
     order by trace_id limit $2`,
    [id, erasedAtOnce],
  );
  return rows;
}

/** `revision`: at which it was read and matches; null: it does not match any more, or is gone. */
export type CheckedMatch = Match & { revision: number | null };

/**
 * Deletes those that match, with all that hangs on them, and takes off those that do not; how many were deleted. One that
 * changed since it was read stays, to be read again.
 */
export async function eraseMatches(db: Database, id: string, checked: CheckedMatch[]): Promise<number> {
  let erased = 0;
  for (const [place, part] of await partsOf(db, checked)) erased += await eraseIn(place, id, part);
  return erased;
}

async function eraseIn(db: Database, id: string, checked: CheckedMatch[]): Promise<number> {
  const matching = checked.filter(({ revision }) => revision !== null);
  const others = checked.filter(({ revision }) => revision === null);
  return transaction(db, async client => {
    // Locked in the order of ids, as by everybody else who deletes or merges traces.
    const { rowCount } = await client.query(
      `with chosen as materialized (
         select t.id from unnest($1::uuid[], $2::int[]) as checked (id, revision)
           join traces t on t.id = checked.id and t.revision = checked.revision order by t.id for update of t
       )
       delete from traces using chosen where traces.id = chosen.id`,
      [matching.map(({ traceId }) => traceId), matching.map(({ revision }) => revision)],
    );
    await deleteMatches(
      client,
      id,
      others.map(({ traceId }) => traceId),
    );
    return rowCount ?? 0;
  });
}
