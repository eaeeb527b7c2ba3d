// Creates the demo's account, project, agents, test cases and key; what already exists is kept.

import { CommandError } from "../src/command.ts";
import type { Agent } from "../src/model/agent/agent.ts";
import type { TestCase } from "../src/model/test-case/document.ts";
import { findAccountByEmail, verifyAccount } from "../src/store/accounts/accounts.ts";
import { type Database, openDatabase } from "../src/store/db.ts";
import { sharedSecret } from "../src/store/secrets/shared-secret.ts";
import { type DemoAgent, demoAgents } from "./agents.ts";
import { ApiError, type Client, openClient } from "./client.ts";

export type CreatedAgent = DemoAgent & { id: string };
export type DemoProject = {
  client: Client;
  email: string;
  password: string;
  agents: CreatedAgent[];
  /** A key for every agent, created at this start. */
  apiKey: string;
  /** Whether the account was created at this start. */
  isNew: boolean;
};

const email = "demo@onlooker.local";
const projectName = "Demo";
const keyName = "Demo traffic";

export async function createProject(url: string, databaseUrl: string): Promise<DemoProject> {
  const client = openClient(url);
  const { password, isNew } = await signIn(client, databaseUrl);
  const { id: projectId } = await findOrCreateProject(client, isNew);
  const agents: CreatedAgent[] = [];
  for (const agent of demoAgents)
    agents.push({ ...agent, id: await findOrCreateAgent(client, projectId, agent) });
  return { client, email, password, agents, isNew, apiKey: await createKey(client, projectId) };
}

/** The password is random per database, so that a demo reachable from outside has no known password. */
async function signIn(client: Client, databaseUrl: string): Promise<{ password: string; isNew: boolean }> {
  const db = openDatabase(databaseUrl, 1);
  try {
    const password = (await sharedSecret(db, "demo-password")).replace(/[-_]/g, "").slice(0, 16);
    const isNew = (await findAccountByEmail(db, email)) === undefined;
    if (isNew) await client.send("POST", "/api/auth/sign-up/email", { email, password, name: "Demo" });
    await client.send("POST", "/api/auth/sign-in/email", { email, password });
    await verify(client, db);
    return { password, isNew };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    throw new CommandError(
      `The password of ${email} was changed: delete that account, or start the demo with another SVC_DATA_DIR.`,
    );
  } finally {
    await db.close();
  }
}

/** Verifies the account in the database, because the demo's email address does not exist. */
async function verify(client: Client, db: Database): Promise<void> {
  const { user } = await client.get<{ user: { id: string; emailVerified: boolean } }>(
    "/api/auth/get-session",
  );
  if (!user.emailVerified) await verifyAccount(db, user.id);
}

type Named = { id: string; name: string };

/** Renames the first project of a new account. */
async function findOrCreateProject(client: Client, isNew: boolean): Promise<Named> {
  const projects = await client.list<Named>("/api/projects");
  if (isNew) return client.send("PATCH", `/api/projects/${projects[0]!.id}`, { name: projectName });
  const project = projects.find(({ name }) => name === projectName);
  return project ?? client.send("POST", "/api/projects", { name: projectName });
}

async function findOrCreateAgent(client: Client, projectId: string, wanted: DemoAgent): Promise<string> {
  const { name, type, otlpServiceName, conventions, tests } = wanted;
  const agents = await client.list<Agent>(`/api/projects/${projectId}/agents`);
  const found = agents.find(agent =>
    otlpServiceName ? agent.otlpServiceName === otlpServiceName : agent.name === name,
  );
  const created = { name, type, otlpServiceName };
  const { id } = found ?? (await client.send<Agent>("POST", `/api/projects/${projectId}/agents`, created));
  // A user may have changed the choice of an agent that exists.
  if (!found && conventions) await client.send("PATCH", `/api/agents/${id}`, { conventions });
  const known = await client.list<TestCase>(`/api/agents/${id}/tests`);
  for (const test of tests) {
    if (!known.some(({ name }) => name === test.name))
      await client.send("POST", `/api/agents/${id}/tests`, test);
  }
  return id;
}

/** A key is shown only when created, so every start creates one. They expire after 7 days; expired ones are deleted. */
async function createKey(client: Client, projectId: string): Promise<string> {
  const path = `/api/projects/${projectId}/keys`;
  for (const { id, name, status } of await client.list<Named & { status: string }>(path)) {
    if (name === keyName && status === "expired") await client.send("DELETE", `/api/keys/${id}`);
  }
  const wanted = { name: keyName, access: "full", expiresInDays: 7 };
  return (await client.send<{ key: string }>("POST", path, wanted)).key;
}
