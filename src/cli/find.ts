// Finds the agent and the tests that a command names, by id or by name.
import { CliError, type Client, NotFoundError } from "./client.ts";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export type Named = { id: string; name: string };

export async function findAgent(client: Client, wanted: string): Promise<Named> {
  if (uuid.test(wanted)) {
    return client<Named>("GET", `/api/agents/${wanted}`).catch(error => {
      throw error instanceof NotFoundError ? new CliError(`No agent with id ${wanted}.`) : error;
    });
  }
  const found: (Named & { project: string })[] = [];
  for (const project of await listAll(client, "/api/projects")) {
    for (const agent of await listAll(client, `/api/projects/${project.id}/agents`)) {
      if (agent.name === wanted) found.push({ ...agent, project: project.name });
    }
  }
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw new CliError(`No agent named “${wanted}”.`);
  const choice = found.map(({ id, project }) => `${id} (${project})`).join(", ");
  throw new CliError(`Several agents are named “${wanted}”. Pass one of their ids: ${choice}.`);
}

export async function findProject(client: Client, wanted: string): Promise<Named> {
  const projects = await listAll(client, "/api/projects");
  const found = projects.filter(({ id, name }) => id === wanted.toLowerCase() || name === wanted);
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw new CliError(`No project “${wanted}”.`);
  const ids = found.map(({ id }) => id).join(", ");
  throw new CliError(`Several projects are named “${wanted}”. Pass one of their ids: ${ids}.`);
}

/** Undefined if none were passed. */
export async function findTests(
  client: Client,
  agentId: string,
  wanted: string[],
): Promise<string[] | undefined> {
  if (wanted.length === 0) return undefined;
  const tests = await listAll(client, `/api/agents/${agentId}/tests`);
  const find = (test: string) => tests.filter(({ id, name }) => id === test.toLowerCase() || name === test);
  const named = wanted.flatMap(text =>
    find(text).length > 0 ? [text] : text.split(",").map(test => test.trim()),
  );
  return named.map(test => {
    if (test === "") throw new CliError("--tests contains an empty name.");
    const found = find(test);
    if (found.length === 1) return found[0]!.id;
    if (found.length === 0) throw new CliError(`The agent has no test “${test}”.`);
    const ids = found.map(({ id }) => id).join(", ");
    throw new CliError(`Several tests are named “${test}”. Pass one of their ids: ${ids}.`);
  });
}

/** Every page of a list. */
export async function listAll<T = Named>(client: Client, path: string): Promise<T[]> {
  const all: T[] = [];
  for (let cursor = ""; ; ) {
    const page = await client<{ items: T[]; nextCursor: string | null }>(
      "GET",
      `${path}?limit=200${cursor && `&cursor=${cursor}`}`,
    );
    all.push(...page.items);
    if (page.nextCursor === null) return all;
    cursor = page.nextCursor;
  }
}
