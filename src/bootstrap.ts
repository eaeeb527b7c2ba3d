// npm run bootstrap: creates an account, a project, an agent and a key without a browser, while the service runs or
// before its first start. Idempotent.
import { Command, CommanderError, InvalidArgumentError } from "commander";
import pino from "pino";
import { withDatabase } from "./command/database.ts";
import { knownProblem } from "./command/known-problem.ts";
import { commandName } from "./config/package.ts";
import { readConfig } from "./config.ts";
import { openAuth } from "./http/accounts/auth.ts";
import { NewPassword, passwordLengthMax, passwordLengthMin } from "./http/accounts/schemas.ts";
import { openBackground } from "./http/frame/background.ts";
import { ExactName, Name } from "./http/frame/schemas.ts";
import type { Account } from "./model/account.ts";
import { advisoryLocks } from "./model/advisory-locks.ts";
import { hashKey, makeKey } from "./model/key.ts";
import { Refusal } from "./model/refusal.ts";
import { endSessions, findAccountByEmail, verifyAccount } from "./store/accounts/accounts.ts";
import { insertAgent, listAgents } from "./store/accounts/agents.ts";
import { insertKey } from "./store/accounts/keys.ts";
import { createFirstProject, insertProject, listProjects } from "./store/accounts/projects.ts";
import { openStore } from "./store/cluster/open.ts";
import { newClient, noTimeouts } from "./store/connection/connect.ts";
import type { Database } from "./store/db.ts";
import { newest } from "./store/listing.ts";
import { prepareDatabase } from "./store/prepare.ts";

class UsageError extends Error {}

type Options = {
  email: string;
  password: string;
  project: string;
  agent: string;
  serviceName?: string;
  verified?: true;
  newKey?: true;
  json?: true;
};
type Created = { projectId: string; agentId: string; apiKey: string | null };

// Logs go to standard error, so that scripts can read standard output.
const log = pino({ level: "warn" }, pino.destination(2));

const program = new Command(commandName("bootstrap"))
  .description("Creates an account with a project, an agent and an API key. Repeating it changes nothing.")
  .exitOverride()
  .showHelpAfterError("Add --help for usage.")
  .requiredOption("--email <email>", "email of the account", nonEmpty)
  .requiredOption("--password <password>", "password of the account", password)
  .requiredOption("--project <name>", "name of the project", name)
  .requiredOption("--agent <name>", "name of the agent", name)
  .option("--service-name <name>", "OTLP service name of the agent", serviceName)
  .option("--verified", "mark the email as verified")
  .option("--new-key", "create a key even if the agent exists")
  .option("--json", "print the result as JSON");

try {
  const options = program.parse().opts<Options>();
  const created = await usingDatabase(db => bootstrap(db, options));
  process.stdout.write(`${options.json ? JSON.stringify(created) : textOf(created)}\n`);
} catch (error) {
  // Commander has printed its own errors and the help.
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else {
    process.stderr.write(`${explain(error)}\n`);
    process.exitCode = 1;
  }
}

function nonEmpty(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  return text.trim();
}

/** As given, spaces included, as when signing up. */
function password(text: string): string {
  nonEmpty(text);
  return text;
}

// The names that the API accepts.
function name(text: string): string {
  return accepted(Name, nonEmpty(text));
}

/** Empty: none. */
function serviceName(text: string): string {
  return text && accepted(ExactName, text);
}

function accepted(schema: typeof Name, text: string): string {
  const { success, data, error } = schema.safeParse(text);
  if (!success) throw new InvalidArgumentError(error.issues.map(({ message }) => message).join(" "));
  return data;
}

/** Uses the database of the running service, or starts the embedded one and stops it afterwards. */
function usingDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
  return withDatabase(readConfig(process.env), log, async (url, home) => {
    const db = openStore(await prepareDatabase({ url, directUrl: url, pooled: false, home }, log), 4);
    try {
      return await withLock(url, () => work(db));
    } finally {
      await db.close();
    }
  });
}

/** Holds an advisory lock, so that two concurrent bootstraps do not create the same things twice. */
async function withLock<T>(url: string, work: () => Promise<T>): Promise<T> {
  const client = newClient(url, { options: noTimeouts });
  await client.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [advisoryLocks.bootstrap]);
    return await work();
  } finally {
    await client.end();
  }
}

async function bootstrap(db: Database, options: Options): Promise<Created> {
  const known = await findAccountByEmail(db, options.email);
  const account = known ?? (await createAccount(db, options));
  if (options.verified && !account.emailVerified) await verifyAccount(db, account.id);
  await createFirstProject(db, account.id, options.project);
  const allRows = { before: newest, rowsMax: 10_000 };

  const projects = await listProjects(db, account.id, allRows);
  const project = projects.find(({ name }) => name === options.project);
  const { id: projectId } = project ?? (await insertProject(db, account.id, options.project));

  const agents = await listAgents(db, projectId, allRows);
  const agent = agents.find(({ name }) => name === options.agent);
  const { id: agentId } =
    agent ??
    (await insertAgent(db, {
      projectId,
      name: options.agent,
      type: "http_api",
      otlpServiceName: options.serviceName || null,
    }));

  if (agent && !options.newKey) return { projectId, agentId, apiKey: null };
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

/** Signs up without sending the verification email or keeping a session. */
async function createAccount(db: Database, { email, password }: Options): Promise<Account> {
  // The library says that it is too short, and not how long it must be.
  if (!NewPassword.safeParse(password).success) {
    throw new UsageError(`--password must have ${passwordLengthMin} to ${passwordLengthMax} characters.`);
  }
  const mailer = { send: async () => {}, forget: async () => {} };
  const config = { baseUrl: "http://localhost" };
  // Nothing is counted.
  const vault = { hash: () => "" };
  const auth = await openAuth({ db, vault, mailer, log, config, limitAccounts: false }, openBackground(log));
  try {
    const { user } = await auth.api.signUpEmail({ body: { email, password, name: email.split("@")[0]! } });
    await endSessions(db, user.id);
    return user;
  } catch (error) {
    const { statusCode, message } = error as { statusCode?: number; message: string };
    if (statusCode === undefined || statusCode >= 500) throw error;
    throw new UsageError(`Cannot create the account: ${message.replace(/^\[body\.\w+\] /, "")}.`);
  }
}

function textOf({ projectId, agentId, apiKey }: Created): string {
  return [
    `project  ${projectId}`,
    `agent    ${agentId}`,
    `API key  ${apiKey ?? "unchanged; pass --new-key to create another"}`,
  ].join("\n");
}

function explain(error: unknown): string {
  if (error instanceof UsageError) return error.message;
  const problem = knownProblem(error);
  if (problem !== undefined) return `bootstrap: ${problem}`;
  if (error instanceof Refusal) {
    return `bootstrap: ${[error.message, error.hint].filter(Boolean).join(" ")}`;
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
