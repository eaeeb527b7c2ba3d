// Agents, and how ingestion finds them: by service name or id, many in one query.
import type { Agent, AgentType } from "../../model/agent/agent.ts";
import type { AdmittedKey } from "../../model/key.ts";
import { Refusal } from "../../model/refusal.ts";
import { type Database, violatedConstraint } from "../db.ts";
import { cachesExpired } from "../ingestion/gather.ts";
import type { Listing } from "../listing.ts";
import { multiRow } from "../multi-row.ts";
import { newId } from "../new-id.ts";
import { deleteTracesOf } from "../traces/read.ts";

/** The agents of a project, newest first. */
export async function listAgents(db: Database, projectId: string, listing: Listing): Promise<Agent[]> {
  const { rows } = await db.pool.query<AgentRow>(
    `select ${columns} from agents where project_id = $1 and id < $2 order by id desc limit $3`,
    [projectId, listing.before, listing.rowsMax],
  );
  return rows.map(toAgent);
}

export async function findAgent(db: Database, id: string): Promise<Agent | undefined> {
  const { rows } = await db.pool.query<AgentRow>(`select ${columns} from agents where id = $1`, [id]);
  return rows[0] && toAgent(rows[0]);
}

/** Throws CONFLICT for a service name that another agent of the project has. */
export async function insertAgent(db: Database, agent: Omit<Agent, "id">): Promise<Agent> {
  const { rows } = await db.pool
    .query<AgentRow>(
      `insert into agents (id, project_id, name, type, otlp_service_name) values ($1, $2, $3, $4, $5)
       returning ${columns}`,
      [newId(), agent.projectId, agent.name, agent.type, agent.otlpServiceName],
    )
    .catch(refuseTakenName);
  return toAgent(rows[0]!);
}

export type AgentChange = {
  name?: string | undefined;
  type?: AgentType | undefined;
  otlpServiceName?: string | null | undefined;
};

/** Absent fields stay as they are. Throws CONFLICT as insertAgent does. */
export async function updateAgent(db: Database, id: string, change: AgentChange): Promise<Agent | undefined> {
  const { name, type, otlpServiceName } = change;
  const { rows } = await db.pool
    .query<AgentRow>(
      `update agents set name = coalesce($2, name), type = coalesce($3, type),
        otlp_service_name = case when $4 then $5 else otlp_service_name end
      where id = $1 returning ${columns}`,
      [id, name, type, otlpServiceName !== undefined, otlpServiceName],
    )
    .catch(refuseTakenName);
  if (otlpServiceName !== undefined) await cachesExpired();
  return rows[0] && toAgent(rows[0]);
}

/** Deletes its test cases, traces and runs as well, and removes it from keys with granular access. */
export async function deleteAgent(db: Database, id: string): Promise<void> {
  await deleteTracesOf(db, [id]);
  await db.pool.query("delete from agents where id = $1", [id]);
  await cachesExpired();
}

export type ServiceOfProject = { projectId: string; serviceName: string };

const services = multiRow<ServiceOfProject>(1, {
  project_id: ["uuid", ({ projectId }) => projectId],
  service_name: ["text", ({ serviceName }) => serviceName],
});

/** One query for many; the agents found, by `serviceKey`. Exact and case-sensitive. */
export async function findAgentsByServiceName(
  db: Database,
  asked: ServiceOfProject[],
): Promise<Map<string, Agent>> {
  // PostgreSQL rejects U+0000, and a lone surrogate would be sent as another character: no agent has such a name.
  const askable = asked.filter(
    ({ serviceName }) => !serviceName.includes("\0") && serviceName.isWellFormed(),
  );
  if (askable.length === 0) return new Map();
  const { rows } = await db.pool.query<AgentRow>({
    name: "agents-by-service-name",
    text: `select a.id, a.project_id, a.name, a.type, a.otlp_service_name
      from ${services.from}
      join agents a on a.project_id = item.project_id and a.otlp_service_name = item.service_name`,
    values: services.values(askable),
  });
  return new Map(rows.map(row => [serviceKey(row.project_id, row.otlp_service_name!), toAgent(row)]));
}

/** The keys of the map that `findAgentsByServiceName` returns. */
export function serviceKey(projectId: string, serviceName: string): string {
  return `${projectId}\n${serviceName}`;
}

/** One query for many; the agents found, by id. Each id must be a UUID. */
export async function findAgentsByIds(db: Database, ids: string[]): Promise<Map<string, Agent>> {
  const { rows } = await db.pool.query<AgentRow>({
    name: "agents-by-id",
    text: `select ${columns} from agents where id = any($1::uuid[])`,
    values: [ids],
  });
  return new Map(rows.map(row => [row.id, toAgent(row)]));
}

/** Up to ten of the agents that the key may write to, for the hint of a refusal. */
export async function listAgentsOfKey(db: Database, key: AdmittedKey): Promise<Agent[]> {
  const { rows } = await db.pool.query<AgentRow>(
    `select ${columns} from agents
      where project_id = $1 and ($2 = 'full' or id = any($3::uuid[])) order by id limit 10`,
    [key.projectId, key.access, key.agentIds],
  );
  return rows.map(toAgent);
}

const columns = "id, project_id, name, type, otlp_service_name";

type AgentRow = {
  id: string;
  project_id: string;
  name: string;
  type: AgentType;
  otlp_service_name: string | null;
};

function toAgent(row: AgentRow): Agent {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    type: row.type,
    otlpServiceName: row.otlp_service_name,
  };
}

function refuseTakenName(error: unknown): never {
  if (violatedConstraint(error) !== "agents_service_name") throw error;
  throw new Refusal("CONFLICT", {
    message: "Another agent of this project has this OTLP service name.",
    hint: "Choose another service name, or change that agent's first.",
  });
}
