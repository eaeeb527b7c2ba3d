// Agents, and how ingestion finds them: by service name or id, many in one query.

import type pg from "pg";
import type { Agent, AgentType } from "../../model/agent/agent.ts";
import {
  type ConventionRule,
  conventionsOfNewAgents,
  normalizedRules,
  type ReadBy,
  type ReadFrom,
} from "../../model/agent/read-by.ts";
import type { AttributeRules } from "../../model/content/attribute-rules.ts";
import type { ContentSetting } from "../../model/content.ts";
import type { AdmittedKey } from "../../model/key.ts";
import { Refusal } from "../../model/refusal.ts";
import { referenceQuery, referenceTransaction } from "../cluster/references.ts";
import { type Database, violatedConstraint } from "../db.ts";
import { deleteTracesOf } from "../delete-traces.ts";
import { cachesExpired } from "../ingestion/gather.ts";
import type { Listing } from "../listing.ts";
import { newId } from "../new-id.ts";
import { bound } from "../parameters/bound.ts";
import { multiRow } from "../parameters/multi-row.ts";
import { changeIntake, checkIntake, type IntakeChange, isIntakeChange, newIntake } from "./agent-intake.ts";
import { readByKey } from "./read-by-key.ts";
import { beginRereading } from "./rereading.ts";

/** The agents of a project, newest first. */
export async function listAgents(db: Database, projectId: string, listing: Listing): Promise<Agent[]> {
  const { rows } = await db.pool.query<AgentRow>(
    `select ${listed} from agents where project_id = $1 and id < $2 order by id desc limit $3`,
    [projectId, listing.before, listing.rowsMax],
  );
  return rows.map(toAgent);
}

export async function findAgent(db: Database, id: string): Promise<Agent | undefined> {
  const { rows } = await db.pool.query<AgentRow>(`select ${listed} from agents where id = $1`, [id]);
  return rows[0] && toAgent(rows[0]);
}

type Optional = keyof ReadBy | "content" | "contentForgetAfterSeconds" | "attributes";

export type NewAgent = Omit<Agent, "id" | Optional> & {
  conventions?: string[] | undefined;
  conventionRules?: ConventionRule[] | undefined;
  readFrom?: ReadFrom | null | undefined;
} & IntakeChange;

/** Throws CONFLICT for a service name that another agent of the project has, and VALIDATION_ERROR as changeIntake does. */
export async function insertAgent(db: Database, agent: NewAgent): Promise<Agent> {
  const { projectId, name, type, otlpServiceName, conventionRules = [], readFrom = null } = agent;
  const { conventions = conventionsOfNewAgents } = agent;
  const intake = newIntake(agent);
  const row = {
    ...{ id: newId(), name, type, otlp_service_name: otlpServiceName },
    ...{ conventions, convention_rules: JSON.stringify(conventionRules) },
    read_from: readFrom && JSON.stringify(readFrom),
    read_by_key: readByKey({ conventions, conventionRules, readFrom }),
    ...{ content: intake.content, content_forget_after_s: intake.seconds, intake_key: intake.key },
    ...{ attributes_deny: intake.attributes.deny, attributes_allow: intake.attributes.allow },
  };
  const { rows } = await referenceQuery<AgentRow>(
    db,
    bound(
      row,
      // The project is locked, so that a change of its privacy settings is either seen here or changes this agent, too.
      at => `with project as materialized (select id, privacy_revision from projects where id = $1 for share)
        insert into agents (${Object.keys(at)}, project_id, privacy_revision)
        select ${Object.values(at)}, id, privacy_revision from project returning ${listed}`,
      [projectId],
    ),
  ).catch(refuseTakenName);
  if (!rows[0]) throw new Refusal("NOT_FOUND");
  if (isIntakeChange(agent)) await cachesExpired();
  return toAgent(rows[0]);
}

export type AgentChange = {
  name?: string | undefined;
  type?: AgentType | undefined;
  otlpServiceName?: string | null | undefined;
  conventions?: string[] | undefined;
  conventionRules?: ConventionRule[] | undefined;
  readFrom?: ReadFrom | null | undefined;
} & IntakeChange;

/** Absent fields stay as they are. Throws CONFLICT as insertAgent does, and VALIDATION_ERROR as changeIntake does. */
export async function updateAgent(db: Database, id: string, change: AgentChange): Promise<Agent | undefined> {
  const { name, type, otlpServiceName } = change;
  const isReadBy = [change.conventions, change.conventionRules, change.readFrom].some(
    one => one !== undefined,
  );
  const isIntake = isIntakeChange(change);
  const agent = await referenceTransaction(db, async client => {
    if (isIntake) await checkIntake(client, id, change);
    if (isReadBy) await changeReadBy(client, id, change);
    const { rows } = await client.query<AgentRow>(
      `update agents set name = coalesce($2, name), type = coalesce($3, type),
        otlp_service_name = case when $4 then $5 else otlp_service_name end
      where id = $1 returning ${listed}`,
      [id, name, type, otlpServiceName !== undefined, otlpServiceName],
    );
    return rows[0] && toAgent(rows[0]);
  }).catch(refuseTakenName);
  if (isIntake) await referenceTransaction(db, client => changeIntake(client, id, change));
  if (otlpServiceName !== undefined || isReadBy || isIntake) await cachesExpired();
  return isIntake ? findAgent(db, id) : agent;
}

/** Unless nothing changes, the latest traces are derived again. */
async function changeReadBy(client: pg.PoolClient, id: string, change: AgentChange): Promise<void> {
  // The second update of a row in a transaction locks what its foreign keys refer to. The project first, as changes of it do.
  await client.query(
    "select from projects where id = (select project_id from agents where id = $1) for key share",
    [id],
  );
  const { rows } = await client.query<AgentRow>(
    `select ${listed} from agents where id = $1 for no key update`,
    [id],
  );
  if (!rows[0]) return;
  const before = toAgent(rows[0]);
  const { conventions = before.conventions, conventionRules = before.conventionRules } = change;
  const readFrom = change.readFrom === undefined ? before.readFrom : change.readFrom;
  const key = readByKey({ conventions, conventionRules, readFrom });
  if (key === readByKey(before)) return;
  await client.query(
    "update agents set conventions = $2, convention_rules = $3, read_from = $4, read_by_key = $5 where id = $1",
    [id, conventions, JSON.stringify(conventionRules), readFrom && JSON.stringify(readFrom), key],
  );
  await beginRereading(client, id);
}

/** Deletes its test cases, traces and runs as well, and removes it from keys with granular access. */
export async function deleteAgent(db: Database, id: string): Promise<void> {
  await deleteTracesOf(db, [id]);
  await referenceQuery(db, { text: "delete from agents where id = $1", values: [id] });
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
    text: `select ${columns.map(name => `a.${name}`).join(", ")}
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
    text: `select ${listed} from agents where id = any($1::uuid[])`,
    values: [ids],
  });
  return new Map(rows.map(row => [row.id, toAgent(row)]));
}

/** Up to ten of the agents that the key may write to, for the hint of a refusal. */
export async function listAgentsOfKey(db: Database, key: AdmittedKey): Promise<Agent[]> {
  const { rows } = await db.pool.query<AgentRow>(
    `select ${listed} from agents
      where project_id = $1 and ($2 = 'full' or id = any($3::uuid[])) order by id limit 10`,
    [key.projectId, key.access, key.agentIds],
  );
  return rows.map(toAgent);
}

const columns = [
  ...[
    "id",
    "project_id",
    "name",
    "type",
    "otlp_service_name",
    "conventions",
    "convention_rules",
    "read_from",
  ],
  ...["content", "content_forget_after_s", "attributes_deny", "attributes_allow"],
];

const listed = columns.join(", ");

type AgentRow = {
  id: string;
  project_id: string;
  name: string;
  type: AgentType;
  otlp_service_name: string | null;
  conventions: string[];
  convention_rules: ConventionRule[];
  read_from: ReadFrom | null;
  content: ContentSetting;
  content_forget_after_s: number | null;
  attributes_deny: AttributeRules["deny"];
  attributes_allow: AttributeRules["allow"];
};

function toAgent(row: AgentRow): Agent {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    type: row.type,
    otlpServiceName: row.otlp_service_name,
    conventions: row.conventions,
    conventionRules: normalizedRules(row.convention_rules),
    readFrom: row.read_from,
    content: row.content,
    contentForgetAfterSeconds: row.content_forget_after_s,
    attributes: { deny: row.attributes_deny, allow: row.attributes_allow },
  };
}

function refuseTakenName(error: unknown): never {
  if (violatedConstraint(error) !== "agents_service_name") throw error;
  throw new Refusal("CONFLICT", {
    message: "Another agent of this project has this OTLP service name.",
    hint: "Choose another service name, or change that agent's first.",
  });
}
