// Authorization: the one place that decides what an account may access.

import { placeOfRow } from "../cluster/routing.ts";
import { type Database, isTransient } from "../db.ts";

const owners = {
  projects: "select 1 from projects p where p.id = $1 and p.account_id = $2",
  agents:
    "select 1 from agents a join projects p on p.id = a.project_id where a.id = $1 and p.account_id = $2",
  keys: "select 1 from keys k join projects p on p.id = k.project_id where k.id = $1 and p.account_id = $2",
  tests: `select 1 from test_cases t join agents a on a.id = t.agent_id join projects p on p.id = a.project_id
    where t.id = $1 and p.account_id = $2`,
  traces: `select 1 from traces t join agents a on a.id = t.agent_id join projects p on p.id = a.project_id
    where t.id = $1 and p.account_id = $2`,
  runs: `select 1 from (select agent_id from runs where id = $1 union all select agent_id from queue where id = $1) r
    join agents a on a.id = r.agent_id join projects p on p.id = a.project_id where p.account_id = $2`,
  launches: `select 1 from launches l join agents a on a.id = l.agent_id
    join projects p on p.id = a.project_id where l.id = $1 and p.account_id = $2`,
  backtests: `select 1 from backtests b join agents a on a.id = b.agent_id
    join projects p on p.id = a.project_id where b.id = $1 and p.account_id = $2`,
  labels: `select 1 from labels l join agents a on a.id = l.agent_id
    join projects p on p.id = a.project_id where l.id = $1 and p.account_id = $2`,
  "trace-views": `select 1 from trace_views v join agents a on a.id = v.agent_id
    join projects p on p.id = a.project_id where v.id = $1 and p.account_id = $2`,
  erasures: `select 1 from erasures e join projects p on p.id = e.project_id where e.id = $1 and p.account_id = $2`,
  "access-tokens": "select 1 from access_tokens where id = $1 and account_id = $2",
} as const;

/** The nouns of the dashboard's URLs: `/api/<noun>/:id`. */
export type OwnedNoun = keyof typeof owners;

/** Whether `noun` is one of the things that belong to an account. */
export function isOwnedNoun(noun: string | undefined): noun is OwnedNoun {
  return noun !== undefined && Object.hasOwn(owners, noun);
}

/** For the columns of a query: the account of the agent with this id, an expression. */
export const accountOf = (agentId: string) =>
  `(select p.account_id from agents a join projects p on p.id = a.project_id where a.id = ${agentId})`;

/** The ids of all agents of these accounts. */
export async function listAgentsOf(db: Database, accountIds: string[]): Promise<string[]> {
  if (accountIds.length === 0) return [];
  const { rows } = await db.pool.query<{ id: string }>({
    name: "agents-of",
    text: `select a.id from agents a join projects p on p.id = a.project_id where p.account_id = any ($1)`,
    values: [accountIds],
  });
  return rows.map(({ id }) => id);
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether PostgreSQL accepts this text as a UUID; any other id is simply not found. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

const storedWithAgent = ["traces", "runs", "launches", "backtests", "labels"] as const;

function isStoredWithAgent(noun: OwnedNoun): noun is (typeof storedWithAgent)[number] {
  return storedWithAgent.some(stored => stored === noun);
}

/** Whether it exists and belongs to the account. A malformed id belongs to nobody. */
export async function isOwn(db: Database, accountId: string, noun: OwnedNoun, id: string): Promise<boolean> {
  if (!isUuid(id)) return false;
  const query = { name: `own-${noun}`, text: owners[noun], values: [id, accountId] };
  const { rowCount } = await db.pool.query(query).catch(async error => {
    // A worker of a cluster is unavailable; the row may be at another.
    if (!db.places || !isStoredWithAgent(noun) || !isTransient(error)) throw error;
    return (await placeOfRow(db, noun, id)).pool.query(query);
  });
  return rowCount === 1;
}

/** The ids of the projects of the account, and of their agents; of one project if `projectId` is given. */
export async function listOwnIds(
  db: Database,
  accountId: string,
  projectId: string | null = null,
): Promise<{ projects: Set<string>; agents: Set<string> }> {
  const { rows } = await db.pool.query<{ project: string; agent: string | null }>({
    name: "own-ids",
    text: `select p.id as project, a.id as agent from projects p left join agents a on a.project_id = p.id
      where p.account_id = $1 and ($2::uuid is null or p.id = $2)`,
    values: [accountId, projectId],
  });
  return {
    projects: new Set(rows.map(row => row.project)),
    agents: new Set(rows.flatMap(row => row.agent ?? [])),
  };
}
