// Erasures that work: taken by turns, moved step by step, ended; dry runs are deleted after an hour.
import type pg from "pg";
import type { CriterionKind, ErasurePlace } from "../../model/erasure.ts";
import { partsOf, partsOfRows } from "../cluster/routing.ts";
import { type Database, transaction } from "../db.ts";
import { countMatches, dryRunMs, type ErasureStep, erasureSteps, sealedFor } from "../erasures.ts";
import type { Vault } from "../secrets/vault.ts";

/** Where an erasure is: who did a part of it stores that, unless another process has moved it meanwhile. */
export type ErasureAt = { id: string; step: ErasureStep; cursor: string | null };

export type WorkingErasure = ErasureAt & {
  projectId: string;
  criterion: CriterionKind;
  dryRun: boolean;
  sealed: Buffer | null;
  confirmed: number | null;
  since: Date | null;
  matched: number;
  attempts: number;
  /** How long its next part has to wait. */
  waitMs: number;
};

/**
 * Of the account whose turn was longest ago, the one that nobody has worked on for longest. One at a step of a newer version is
 * left to its processes, as during an upgrade.
 */
export async function nextErasure(db: Database): Promise<WorkingErasure | undefined> {
  const { rows } = await db.pool.query<WorkingErasure>({
    name: "next_erasure",
    text: `select id, project_id as "projectId", criterion, dry_run as "dryRun", sealed, confirmed, since, step, cursor, matched,
        attempts, greatest(0, extract(epoch from next_at - now())::float8 * 1000) as "waitMs"
      from (
        select e.*, max(e.next_at) over (partition by p.account_id) as turn
        from erasures e join projects p on p.id = e.project_id where e.state = 'running' and e.step = any ($1::text[])
      ) running
      order by greatest(next_at, now()), turn, next_at, id limit 1`,
    values: [erasureSteps],
  });
  return rows[0];
}

/** Of an erasure that is still there, as SQL. */
const isAt = "id = $1 and step = $2 and cursor is not distinct from $3 and state = 'running'";
const valuesOf = ({ id, step, cursor }: ErasureAt) => [id, step, cursor];

export type Progress = {
  step: ErasureStep;
  cursor: string | null;
  read: number;
  erased: number;
  matches: { traceId: string; place: ErasurePlace | null }[];
  /** Traces that are no match any more. */
  unmatched: string[];
};

const placesMax = 20;

/** Stores what a part did; the number of matches, or undefined if another process has moved it. */
export async function moveErasure(
  db: Database,
  vault: Vault,
  from: ErasureAt,
  { step, cursor, read, erased, matches, unmatched }: Progress,
): Promise<number | undefined> {
  const { id } = from;
  const isSame = matches.length + unmatched.length === 0;
  if (db.places && !isSame) {
    const { rows } = await db.pool.query<{ matched: number }>(
      `select matched from erasures where ${isAt}`,
      valuesOf(from),
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
    const { rows } = await client.query<{ matched: number }>(
      `update erasures set step = $4, cursor = $5, read = read + $6, erased = erased + $7, attempts = 0,
         error = null, next_at = now()
       where ${isAt} returning matched`,
      [...valuesOf(from), step, cursor, read, erased],
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

/** Ends it. An erasure forgets its criterion, and the dry runs with the same matches are gone with their traces. */
export async function endErasure(
  db: Database,
  at: ErasureAt,
  { state, error }: { state: "done" | "failed"; error: string | null },
): Promise<void> {
  await transaction(db, async client => {
    const { rows } = await client.query<{ dry_run: boolean }>(
      `update erasures set state = $4, error = $5, finished_at = now(), cursor = null,
         sealed = case when dry_run and $4 = 'done' then sealed end
       where ${isAt} returning dry_run`,
      [...valuesOf(at), state, error],
    );
    if (rows[0] && !rows[0].dry_run)
      await client.query("delete from erasure_matches where erasure_id = $1", [at.id]);
  });
}

/** Shows why an attempt failed. The next one begins after the pause. */
export async function postponeErasure(
  db: Database,
  at: ErasureAt,
  { error, pauseMs }: { error: string; pauseMs: number },
): Promise<void> {
  await db.pool.query(
    `update erasures set attempts = attempts + 1, error = $4, next_at = now() + $5::float8 * interval '1 ms'
     where ${isAt}`,
    [...valuesOf(at), error, pauseMs],
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
 * Deletes those that match, with everything that belongs to them, and takes off those that do not; how many were deleted. One that
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
       select delete_traces(array(select id from chosen))`,
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
