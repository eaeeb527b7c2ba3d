// Whose a thing is: the one place that decides what an account may reach.
import type { Database } from "./db.ts";

const owners = {
  projects: "select 1 from projects p where p.id = $1 and p.account_id = $2",
  agents:
    "select 1 from agents a join projects p on p.id = a.project_id where a.id = $1 and p.account_id = $2",
  keys: "select 1 from keys k join projects p on p.id = k.project_id where k.id = $1 and p.account_id = $2",
  tests: `select 1 from test_cases t join agents a on a.id = t.agent_id join projects p on p.id = a.project_id
    where t.id = $1 and p.account_id = $2`,
  traces: `select 1 from traces t join agents a on a.id = t.agent_id join projects p on p.id = a.project_id
    where t.id = $1 and p.account_id = $2`,
  runs: `select 1 from runs r join traces t on t.id = r.trace_id join agents a on a.id = t.agent_id
    join projects p on p.id = a.project_id where r.id = $1 and p.account_id = $2`,
} as const;

/** The nouns of the dashboard's addresses: `/api/<noun>/:id`. */
export type OwnedNoun = keyof typeof owners;

/** Whether `noun` is one of the things that belong to an account. */
export function isOwnedNoun(noun: string | undefined): noun is OwnedNoun {
  return noun !== undefined && Object.hasOwn(owners, noun);
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether PostgreSQL takes this text as a UUID; any other text as an id is simply not found. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/** Whether the thing exists and belongs to the account (G5). A malformed id belongs to nobody. */
export async function isOwn(db: Database, accountId: string, noun: OwnedNoun, id: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const { rowCount } = await db.pool.query({
    name: `own-${noun}`,
    text: owners[noun],
    values: [id, accountId],
  });
  return rowCount === 1;
}

/** The ids of every agent of the account. */
export async function listOwnAgentIds(db: Database, accountId: string): Promise<string[]> {
  const { rows } = await db.pool.query<{ id: string }>({
    name: "own-agent-ids",
    text: "select a.id from agents a join projects p on p.id = a.project_id where p.account_id = $1",
    values: [accountId],
  });
  return rows.map(row => row.id);
}
