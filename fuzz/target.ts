// The service that mutants are sent to: one of its own on a new database, or a running one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { openEmbedded } from "../src/embedded/database.ts";
import { serviceName } from "./seeds.ts";

export type ServiceTarget = { url?: string; email?: string; password?: string };

export type Target = {
  url: string;
  /** Of an account that can read what is sent. */
  cookie: string;
  /** With full access, for OTLP, and limited to the agent, for canonical traces that name none. */
  keys: { full: string; granular: string };
  /** Log lines at the levels error and fatal; only of a service of our own. */
  errors: string[];
  /** Why its process ended, if it did. */
  ended: () => string | undefined;
  close: () => Promise<void>;
};

export async function openTarget({ url, email, password }: ServiceTarget): Promise<Target> {
  if (!url) return await startTarget();
  if (!email || !password) throw new Error("--url needs --email and --password.");
  const cookie = await signIn(url, email, password);
  const made = await prepareProject(url, cookie);
  const close = async () => {
    await call(url, cookie, "DELETE", `/api/agents/${made.agentId}`);
    for (const id of made.keyIds) await call(url, cookie, "DELETE", `/api/keys/${id}`);
  };
  return { url, cookie, keys: made.keys, errors: [], ended: () => undefined, close };
}

async function startTarget(): Promise<Target> {
  const dataDir = await mkdtemp(join(process.env.BENCH_DIR ?? "/var/tmp", "onlooker-fuzz-"));
  // If this process is root, PostgreSQL runs as another user, which must be able to enter the folder.
  await chmod(dataDir, 0o711);
  const silent = { info() {}, warn() {}, error: console.error };
  const embedded = await openEmbedded({ dataDir, log: silent });
  const child = spawn(process.execPath, [join(import.meta.dirname, "../src/main.ts")], {
    env: { ...process.env, DATABASE_URL: embedded.url, SVC_DATA_DIR: join(dataDir, "service"), PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const errors: string[] = [];
  let end: string | undefined;
  const exited = once(child, "exit").then(([code, signal]) => {
    end = `the service ended with ${signal ?? code}`;
  });
  const { promise, resolve } = Promise.withResolvers<string>();
  createInterface({ input: child.stdout! }).on("line", line => {
    const found = /ready at (http:[^"\s]+)/.exec(line)?.[1];
    if (found) resolve(found);
    if (/"level":[56]0/.test(line)) errors.push(line);
  });
  const close = async () => {
    child.kill("SIGTERM");
    await exited;
    await embedded.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const url = await Promise.race([promise, exited.then(() => Promise.reject(new Error(end)))]);
    const { cookie, keys } = await prepareService(url, embedded.url);
    return { url, cookie, keys, errors, ended: () => end, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** An account, a project, an agent and keys of a new service. */
async function prepareService(url: string, databaseUrl: string) {
  const account = { email: "fuzz@example.com", password: "correct horse battery", name: "Fuzz" };
  await call(url, "", "POST", "/api/auth/sign-up/email", account);
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  await database.query("update accounts set email_verified = true");
  await database.end();
  const cookie = await signIn(url, account.email, account.password);
  const { keys } = await prepareProject(url, cookie);
  return { cookie, keys };
}

async function prepareProject(url: string, cookie: string) {
  const projects = await call(url, cookie, "GET", "/api/projects");
  const project = `/api/projects/${projects.items[0].id}`;
  const agent = { name: "Fuzz", otlpServiceName: serviceName };
  const { id: agentId } = await call(url, cookie, "POST", `${project}/agents`, agent);
  await call(url, cookie, "PATCH", `/api/agents/${agentId}`, { conventions: ["*"] });
  const full = await call(url, cookie, "POST", `${project}/keys`, { name: "fuzz", access: "full" });
  const access = { name: "fuzz, one agent", access: "granular", agentIds: [agentId] };
  const granular = await call(url, cookie, "POST", `${project}/keys`, access);
  return { agentId, keyIds: [full.id, granular.id], keys: { full: full.key, granular: granular.key } };
}

async function signIn(url: string, email: string, password: string): Promise<string> {
  const reply = await request(url, "", "POST", "/api/auth/sign-in/email", { email, password });
  const cookie = reply.headers.getSetCookie().find(text => text.includes("session_token="));
  if (!cookie) throw new Error(`Signing in was answered ${reply.status}: ${await reply.text()}`);
  return cookie.split(";", 1)[0]!;
}

// biome-ignore lint/suspicious/noExplicitAny: replies of our own API.
async function call(url: string, cookie: string, method: string, path: string, body?: object): Promise<any> {
  const reply = await request(url, cookie, method, path, body);
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path} was answered ${reply.status}: ${text}`);
  return text ? JSON.parse(text) : undefined;
}

function request(
  url: string,
  cookie: string,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
  return fetch(url + path, {
    method,
    headers: { ...(cookie && { cookie }), ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
}
