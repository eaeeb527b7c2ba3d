// Projects, including the first one of every account.

import { firstProjectName } from "../../model/project.ts";
import { referenceQuery } from "../cluster/references.ts";
import type { Database } from "../db.ts";
import { deleteTracesOf } from "../delete-traces.ts";
import { cachesExpired } from "../ingestion/gather.ts";
import type { Listing } from "../listing.ts";
import { newId } from "../new-id.ts";

export type Project = { id: string; name: string; createdAt: Date };

const columns = `id, name, created_at as "createdAt"`;

/**
 * Creates the first project of an account, once. Atomic and repeatable: called at sign-up and again whenever projects
 * are listed, so that a crash in between leaves no account without one.
 */
export async function createFirstProject(
  db: Database,
  accountId: string,
  name = firstProjectName,
): Promise<void> {
  // Reads first: accounts are on every node of a cluster, and no change of them succeeds while a worker is unavailable.
  const due = await db.pool.query({
    name: "first_project_due",
    text: "select from accounts where id = $1 and not first_project_made",
    values: [accountId],
  });
  if (due.rowCount === 0) return;
  await referenceQuery(db, {
    text: `with due as (
       update accounts set first_project_made = true where id = $1 and not first_project_made returning id
     )
     insert into projects (id, account_id, name) select $3, id, $2 from due`,
    values: [accountId, name, newId()],
  });
}

/** The account's projects, newest first. */
export async function listProjects(db: Database, accountId: string, listing: Listing): Promise<Project[]> {
  const { rows } = await db.pool.query<Project>(
    `select ${columns} from projects where account_id = $1 and id < $2 order by id desc limit $3`,
    [accountId, listing.before, listing.rowsMax],
  );
  return rows;
}

export async function findProject(db: Database, id: string): Promise<Project | undefined> {
  const { rows } = await db.pool.query<Project>(`select ${columns} from projects where id = $1`, [id]);
  return rows[0];
}

export async function insertProject(db: Database, accountId: string, name: string): Promise<Project> {
  const { rows } = await referenceQuery<Project>(db, {
    text: `insert into projects (id, account_id, name) values ($1, $2, $3) returning ${columns}`,
    values: [newId(), accountId, name],
  });
  return rows[0]!;
}

export async function renameProject(db: Database, id: string, name: string): Promise<Project | undefined> {
  const { rows } = await referenceQuery<Project>(db, {
    text: `update projects set name = $2 where id = $1 returning ${columns}`,
    values: [id, name],
  });
  return rows[0];
}

/** Requests per minute of all its keys together; null: no limit. Undefined if there is no such project. */
export async function findRateLimit(db: Database, id: string): Promise<number | null | undefined> {
  const { rows } = await db.pool.query<{ limit: number | null }>(
    `select requests_per_minute as "limit" from projects where id = $1`,
    [id],
  );
  return rows[0]?.limit;
}

/** Holds for every process once this returns. False if there is no such project. */
export async function saveRateLimit(db: Database, id: string, limit: number | null): Promise<boolean> {
  const { rowCount } = await referenceQuery(db, {
    text: "update projects set requests_per_minute = $2 where id = $1",
    values: [id, limit],
  });
  await cachesExpired();
  return rowCount === 1;
}

/** Deletes its agents, keys, test cases, traces and runs as well. */
export async function deleteProject(db: Database, id: string): Promise<void> {
  const { rows } = await db.pool.query<{ id: string }>("select id from agents where project_id = $1", [id]);
  await deleteTracesOf(
    db,
    rows.map(agent => agent.id),
  );
  await referenceQuery(db, { text: "delete from projects where id = $1", values: [id] });
  await cachesExpired();
}
