// Projects, and the one that every account is given.
import { firstProjectName, type Project } from "../../model/project.ts";
import type { Database } from "../db.ts";
import { forgotten } from "../ingestion/gather.ts";
import type { Listing } from "../listing.ts";
import { deleteTracesOf } from "../traces/read.ts";

/**
 * Makes the project that comes with an account, unless that was done before. Atomic and repeatable: it runs at
 * sign-up and again whenever projects are listed, so that a crash in between leaves no account without one.
 */
export async function makeFirstProject(
  db: Database,
  accountId: string,
  name = firstProjectName,
): Promise<void> {
  await db.pool.query(
    `with due as (
       update accounts set first_project_made = true where id = $1 and not first_project_made returning id
     )
     insert into projects (account_id, name) select id, $2 from due`,
    [accountId, name],
  );
}

/** The account's projects, newest first. */
export async function listProjects(db: Database, accountId: string, listing: Listing): Promise<Project[]> {
  const rows = await db.query
    .selectFrom("projects")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("id", "<", listing.before)
    .orderBy("id", "desc")
    .limit(listing.rowsMax)
    .execute();
  return rows.map(toProject);
}

export async function findProject(db: Database, id: string): Promise<Project | undefined> {
  const row = await db.query.selectFrom("projects").selectAll().where("id", "=", id).executeTakeFirst();
  return row && toProject(row);
}

export async function insertProject(db: Database, accountId: string, name: string): Promise<Project> {
  const row = await db.query
    .insertInto("projects")
    .values({ account_id: accountId, name })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toProject(row);
}

export async function renameProject(db: Database, id: string, name: string): Promise<Project | undefined> {
  const row = await db.query
    .updateTable("projects")
    .set({ name })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
  return row && toProject(row);
}

/** Takes its agents, keys, test cases, traces and runs along. */
export async function deleteProject(db: Database, id: string): Promise<void> {
  const { rows } = await db.pool.query<{ id: string }>("select id from agents where project_id = $1", [id]);
  await deleteTracesOf(
    db,
    rows.map(agent => agent.id),
  );
  await db.query.deleteFrom("projects").where("id", "=", id).execute();
  await forgotten();
}

function toProject(row: { id: string; name: string; created_at: Date }): Project {
  return { id: row.id, name: row.name, createdAt: row.created_at.toISOString() };
}
