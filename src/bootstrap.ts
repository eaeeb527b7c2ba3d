// npm run bootstrap: an account, a project, an agent and a key without a browser, beside a running service or before
// its first start. Run again it changes nothing.
import { parseArgs } from "node:util";
import pg from "pg";
import pino from "pino";
import { ConfigError, readConfig } from "./config.ts";
import { connectEmbedded, openEmbedded } from "./embedded/database.ts";
import { EmbeddedError } from "./embedded/error.ts";
import { openAuth } from "./http/accounts/auth.ts";
import { openBackground } from "./http/background.ts";
import type { Account } from "./model/account.ts";
import { hashKey, makeKey } from "./model/key.ts";
import { Refusal } from "./model/refusal.ts";
import { endSessions, findAccountByEmail, verifyAccount } from "./store/accounts/accounts.ts";
import { insertAgent, listAgents } from "./store/accounts/agents.ts";
import { insertKey } from "./store/accounts/keys.ts";
import { insertProject, listProjects, makeFirstProject } from "./store/accounts/projects.ts";
import { type Database, openDatabase } from "./store/db.ts";
import { newest } from "./store/listing.ts";
import { migratePatiently, UnfitDatabaseError } from "./store/migrate.ts";

const usage = `npm run bootstrap -- --email <address> --password <password> --project <name> --agent <name>
  [--service-name <OTLP service name>] [--verified] [--new-key] [--json]`;

class UsageError extends Error {}

type Wanted = {
  email: string;
  password: string;
  project: string;
  agent: string;
  serviceName: string | null;
  verified: boolean;
  newKey: boolean;
};
type Made = { projectId: string; agentId: string; apiKey: string | null };

// Everything but the answer goes to standard error, so that a script may read standard output.
const log = pino({ level: "warn" }, pino.destination(2));

try {
  const { wanted, json } = readArguments();
  const made = await withDatabase(db => bootstrap(db, wanted));
  process.stdout.write(`${json ? JSON.stringify(made) : told(made)}\n`);
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}

function readArguments(): { wanted: Wanted; json: boolean } {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  let values: ReturnType<typeof parse>["values"];
  const parse = () =>
    parseArgs({
      options: {
        email: text,
        password: text,
        project: text,
        agent: text,
        "service-name": text,
        verified: flag,
        "new-key": flag,
        json: flag,
      },
    });
  try {
    values = parse().values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${usage}`);
  }
  const required = (name: "email" | "password" | "project" | "agent"): string => {
    const value = values[name]?.trim();
    if (!value) throw new UsageError(`--${name} is missing.\n\n${usage}`);
    return value;
  };
  return {
    wanted: {
      email: required("email"),
      password: required("password"),
      project: required("project"),
      agent: required("agent"),
      serviceName: values["service-name"] || null,
      verified: values.verified,
      newKey: values["new-key"],
    },
    json: values.json,
  };
}

/** The database of the running service, or one that is started for this and stopped again. */
async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const config = readConfig(process.env);
  const running = config.databaseUrl
    ? { url: config.databaseUrl, stop: async () => {} }
    : ((await connectEmbedded(config.dataDir)) ?? (await openEmbedded({ dataDir: config.dataDir, log })));
  try {
    await migratePatiently(running.url, log);
    const db = openDatabase(running.url, 4);
    try {
      return await alone(running.url, () => work(db));
    } finally {
      await db.close();
    }
  } finally {
    await running.stop();
  }
}

/** Two of these at once take turns, so that neither makes what the other is making. */
async function alone<T>(url: string, work: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock(5270433117)");
    return await work();
  } finally {
    await client.end();
  }
}

async function bootstrap(db: Database, wanted: Wanted): Promise<Made> {
  const known = await findAccountByEmail(db, wanted.email);
  const account = known ?? (await makeAccount(db, wanted));
  if (wanted.verified && !account.emailVerified) await verifyAccount(db, account.id);
  await makeFirstProject(db, account.id, wanted.project);
  const everything = { before: newest, rowsMax: 10_000 };

  const projects = await listProjects(db, account.id, everything);
  const project = projects.find(({ name }) => name === wanted.project);
  const { id: projectId } = project ?? (await insertProject(db, account.id, wanted.project));

  const agents = await listAgents(db, projectId, everything);
  const agent = agents.find(({ name }) => name === wanted.agent);
  const { id: agentId } =
    agent ??
    (await insertAgent(db, {
      projectId,
      name: wanted.agent,
      type: "http_api",
      otlpServiceName: wanted.serviceName,
    }));

  if (agent && !wanted.newKey) return { projectId, agentId, apiKey: null };
  const apiKey = makeKey();
  await insertKey(db, {
    projectId,
    name: "bootstrap",
    hash: hashKey(apiKey),
    lastFour: apiKey.slice(-4),
    access: "full",
    agentIds: [],
    expiresAt: new Date(Date.now() + 90 * 24 * 3_600_000),
    createdBy: account.id,
  });
  return { projectId, agentId, apiKey };
}

/** As a sign-up would, but without its mail and its session. */
async function makeAccount(db: Database, { email, password }: Wanted): Promise<Account> {
  const mailer = { send: async () => {} };
  const config = { baseUrl: "http://localhost" };
  const auth = await openAuth({ db, mailer, log, config, limitAccounts: false }, openBackground(log));
  try {
    const { user } = await auth.api.signUpEmail({ body: { email, password, name: email.split("@")[0]! } });
    await endSessions(db, user.id);
    return user;
  } catch (error) {
    const { statusCode, message } = error as { statusCode?: number; message: string };
    if (statusCode === undefined || statusCode >= 500) throw error;
    throw new UsageError(`The account cannot be made: ${message}.`);
  }
}

function told({ projectId, agentId, apiKey }: Made): string {
  return [
    `project  ${projectId}`,
    `agent    ${agentId}`,
    `API key  ${apiKey ?? "not made again: add --new-key for another one"}`,
  ].join("\n");
}

function explain(error: unknown): string {
  if (error instanceof UsageError) return error.message;
  if (error instanceof ConfigError || error instanceof EmbeddedError || error instanceof UnfitDatabaseError) {
    return `bootstrap: ${error.message}`;
  }
  if (error instanceof Refusal) {
    return `bootstrap: ${[error.message, error.hint].filter(Boolean).join(" ")}`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
