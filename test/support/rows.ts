// Inserts the rows that store tests start from.
import { randomUUID } from "node:crypto";
import { insertAgent } from "../../src/store/accounts/agents.ts";
import { insertProject } from "../../src/store/accounts/projects.ts";
import type { Database, OpenDatabase } from "../../src/store/db.ts";
import { freshDatabase, openFresh } from "./postgres.ts";

/** A database for the test file. */
export async function openTestDatabase(): Promise<{ db: OpenDatabase; close(): Promise<void> }> {
  const database = await freshDatabase();
  const db = openFresh(database.url);
  return {
    db,
    async close() {
      await db.close();
      await database.drop();
    },
  };
}

export async function makeAccount(
  db: Database,
  { email = `${randomUUID()}@example.com`, verified = false } = {},
): Promise<string> {
  const id = randomUUID();
  await db.pool.query(
    "insert into accounts (id, name, email, email_verified) values ($1, 'Someone', $2, $3)",
    [id, email, verified],
  );
  return id;
}

/** A project of the account, or of a new one. */
export async function makeProject(db: Database, accountId?: string): Promise<string> {
  return (await insertProject(db, accountId ?? (await makeAccount(db)), "Project")).id;
}

/** An agent of the project, or of a new one. Without conventions, as the writes of these tests are derived. */
export async function makeAgentRow(
  db: Database,
  { projectId, otlpServiceName = null }: { projectId?: string; otlpServiceName?: string | null } = {},
): Promise<string> {
  const agent = { name: "Agent", type: "workflow" as const, otlpServiceName, conventions: [] };
  return (await insertAgent(db, { ...agent, projectId: projectId ?? (await makeProject(db)) })).id;
}

/** Gives the agent so many rules that keys list the conventions of no later agent of its project. */
export async function fillList(db: Database, agentId: string): Promise<void> {
  const rules = [{ from: "x".repeat(100_000), to: "user.id" }];
  await db.pool.query("update agents set convention_rules = $2, read_by_key = 'x' where id = $1", [
    agentId,
    JSON.stringify(rules),
  ]);
}
