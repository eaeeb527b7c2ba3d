// Agents, and how ingestion finds them: by service name or by id, many at once.
import type { Agent, AgentType } from "../../model/agent/agent.ts";
import type { AdmittedKey } from "../../model/key.ts";
import { Refusal } from "../../model/refusal.ts";
import { type Database, violatedConstraint } from "../db.ts";
import { forgotten } from "../ingestion/gather.ts";
import type { Listing } from "../listing.ts";
import { deleteTracesOf } from "../traces/read.ts";

/** The agents of a project, newest first. */
export async function listAgents(db: Database, projectId: string, listing: Listing): Promise<Agent[]> {
  const rows = await db.query
    .selectFrom("agents")
    .selectAll()
    .where("project_id", "=", projectId)
    .where("id", "<", listing.before)
    .orderBy("id", "desc")
    .limit(listing.rowsMax)
    .execute();
  return rows.map(toAgent);
}

export async function findAgent(db: Database, id: string): Promise<Agent | undefined> {
  const row = await db.query.selectFrom("agents").selectAll().where("id", "=", id).executeTakeFirst();
  return row && toAgent(row);
}

/** Throws CONFLICT for a service name that another agent of the project bears (G4). */
export async function insertAgent(db: Database, agent: Omit<Agent, "id">): Promise<Agent> {
  const row = await db.query
    .insertInto("agents")
    .values({
      project_id: agent.projectId,
      name: agent.name,
      type: agent.type,
      otlp_service_name: agent.otlpServiceName,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch(refuseTakenName);
  return toAgent(row);
}

export type AgentChange = {
  name?: string | undefined;
  type?: AgentType | undefined;
  otlpServiceName?: string | null | undefined;
};

/** Sets what `change` names and leaves the rest. Throws CONFLICT as insertAgent does. */
export async function updateAgent(db: Database, id: string, change: AgentChange): Promise<Agent | undefined> {
  if (Object.keys(change).length === 0) return findAgent(db, id);
  const row = await db.query
    .updateTable("agents")
    .set({
      ...(change.name !== undefined && { name: change.name }),
      ...(change.type !== undefined && { type: change.type }),
      ...(change.otlpServiceName !== undefined && { otlp_service_name: change.otlpServiceName }),
    })
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst()
    .catch(refuseTakenName);
  if (change.otlpServiceName !== undefined) await forgotten();
  return row && toAgent(row);
}

/** Takes its test cases, traces and runs along, and itself out of the keys that name it. */
export async function deleteAgent(db: Database, id: string): Promise<void> {
  await deleteTracesOf(db, [id]);
  await db.query.deleteFrom("agents").where("id", "=", id).execute();
  await forgotten();
}

export type ServiceOfProject = { projectId: string; serviceName: string };

/** One query for many; the found agents by `serviceKey`. Exact and case-sensitive (G4). */
export async function findAgentsByServiceName(
  db: Database,
  services: ServiceOfProject[],
): Promise<Map<string, Agent>> {
  // PostgreSQL refuses U+0000 and would be asked for another name in place of a lone surrogate: nobody bears either.
  const askable = services.filter(
    ({ serviceName }) => !serviceName.includes("\0") && serviceName.isWellFormed(),
  );
  if (askable.length === 0) return new Map();
  const { rows } = await db.pool.query<AgentRow>({
    name: "agents-by-service-name",
    text: `select a.id, a.project_id, a.name, a.type, a.otlp_service_name
      from unnest($1::uuid[], $2::text[]) as asked (project_id, service_name)
      join agents a on a.project_id = asked.project_id and a.otlp_service_name = asked.service_name`,
    values: [askable.map(({ projectId }) => projectId), askable.map(({ serviceName }) => serviceName)],
  });
  return new Map(rows.map(row => [serviceKey(row.project_id, row.otlp_service_name!), toAgent(row)]));
}

/** How `findAgentsByServiceName` names what it found. */
export function serviceKey(projectId: string, serviceName: string): string {
  return `${projectId}\n${serviceName}`;
}

/** One query for many; the found agents by id. Each id must be a UUID. */
export async function findAgentsByIds(db: Database, ids: string[]): Promise<Map<string, Agent>> {
  const { rows } = await db.pool.query<AgentRow>({
    name: "agents-by-id",
    text: "select id, project_id, name, type, otlp_service_name from agents where id = any($1::uuid[])",
    values: [ids],
  });
  return new Map(rows.map(row => [row.id, toAgent(row)]));
}

/** Up to ten of the agents that the key may write to, for the hint of a refusal. */
export async function listAgentsOfKey(db: Database, key: AdmittedKey): Promise<Agent[]> {
  const { rows } = await db.pool.query<AgentRow>(
    `select id, project_id, name, type, otlp_service_name from agents
      where project_id = $1 and ($2 = 'full' or id = any($3::uuid[])) order by id limit 10`,
    [key.projectId, key.access, key.agentIds],
  );
  return rows.map(toAgent);
}

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
