// What a load balancer and an operator are told of three HTTP processes: while one is replaced, while the one that leads
// hangs or is gone, while the database is away, and at the end.
import assert from "node:assert/strict";
import { Agent, type IncomingMessage, request } from "node:http";
import { after, suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  bootstrapped,
  childrenOf,
  httpProcessesOf,
  type ServiceProcess,
  startedBeside,
  startProcess,
  stopProcess,
  stopProcesses,
} from "../../flow/processes.ts";
import { canonicalBody } from "../../support/bodies.ts";
import { startCluster } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { freshDatabase } from "../../support/postgres.ts";

const processes = 3;

const database = await freshDatabase();
after(async () => {
  await stopProcesses();
  await database.drop();
});

const start = (env: Record<string, string> = {}) =>
  startProcess({
    DATABASE_URL: database.url,
    SVC_HTTP_PROCESSES: String(processes),
    SVC_LOG_LEVEL: "debug",
    ...env,
  });

type Answer = [status: number, body: unknown];

const alive: Answer = [200, { status: "ok" }];
const ready: Answer = [200, { status: "ready" }];
const waitingFor = (what: string): Answer => [503, { status: "waiting", waitingFor: what }];

/** On the connection of `agent`, or on a new one. Rejects if the connection is refused or breaks, or after 10 s. */
function ask(url: string, path: string, agent: Agent | false = false): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url + path, { agent, timeout: 10_000 }, (response: IncomingMessage) => {
      let text = "";
      response.setEncoding("utf8").on("data", part => {
        text += part;
      });
      response.on("error", reject).on("end", () => resolve([response.statusCode!, JSON.parse(text)]));
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error(`${path} was not answered`)));
    outgoing.on("error", reject).end();
  });
}

/** Asks on as many new connections as reach each process twice, since they take turns. */
async function askAll(url: string, path: string, agents?: Agent[]): Promise<Answer[]> {
  const connections = agents ?? Array.from({ length: 2 * processes }, () => false as const);
  const answers: Answer[] = [];
  for (const agent of connections) answers.push(await ask(url, path, agent));
  return answers;
}

async function assertAll(url: string, path: string, expected: Answer, agents?: Agent[]): Promise<void> {
  for (const answer of await askAll(url, path, agents)) assert.deepEqual(answer, expected);
}

const becomes = (service: ServiceProcess, expected: Answer, agents?: Agent[]) =>
  eventually(() => assertAll(service.url, "/readyz", expected, agents));

// Beside the first one, which waits half a minute.
suite("of three HTTP processes", { concurrency: 2 }, () => {
  test("each says so if the one that leads them hangs, on connections that are still served", async () => {
    const service = await start();
    const agents = Array.from(
      { length: 2 * processes },
      () => new Agent({ keepAlive: true, maxSockets: 1, timeout: 60_000 }),
    );
    await becomes(service, ready, agents);
    process.kill(service.pid, "SIGSTOP");
    try {
      await becomes(service, waitingFor("leader"), agents);
      await assertAll(service.url, "/healthz", waitingFor("leader"), agents);
    } finally {
      process.kill(service.pid, "SIGCONT");
    }
    await becomes(service, ready, agents);
    await assertAll(service.url, "/healthz", alive, agents);
    for (const agent of agents) agent.destroy();
    assert.equal(await stopProcess(service), 0);
  });

  test("the others stay behind their balancer while one is replaced, and say that it is missing", async () => {
    const service = await start();
    await becomes(service, ready);
    const before = childrenOf(service.pid);
    process.kill(httpProcessesOf(service).get(2)!, "SIGKILL");
    const loading = await startedBeside(service.pid, before);
    process.kill(loading, "SIGSTOP");
    await becomes(service, [200, { status: "degraded", httpProcessesMissing: 1, httpProcesses: processes }]);
    await assertAll(service.url, "/healthz", alive);
    process.kill(loading, "SIGCONT");
    await becomes(service, ready);
    assert.equal(await stopProcess(service), 0);
  });

  test("each is alive and none is ready while the database is away, and none is replaced for that", async () => {
    const cluster = await startCluster();
    const service = await start({ DATABASE_URL: cluster.url });
    await becomes(service, ready);
    const before = httpProcessesOf(service);
    await cluster.crash();
    await becomes(service, waitingFor("database"));
    await assertAll(service.url, "/healthz", alive);
    await cluster.resume();
    await becomes(service, ready);
    assert.deepEqual(httpProcessesOf(service), before);
    assert.equal(await stopProcess(service), 0);
    await cluster.stop();
  });

  test("none answers once the one that leads is gone, and nobody waits, until the launcher has started all again", async () => {
    const env = {
      DATABASE_URL: database.url,
      PORT: String(await freePort()),
      SVC_HTTP_PROCESSES: String(processes),
    };
    const launcher = await startProcess(env, { launched: true });
    const readyLines = () => launcher.logs.filter(line => line.includes("ready at"));
    const { pid } = JSON.parse(readyLines()[0]!) as { pid: number };
    process.kill(pid, "SIGKILL");
    const errors = new Set<string>();
    while (readyLines().length < 2) {
      await ask(launcher.url, "/readyz").catch(error => errors.add(error.code ?? error.message));
    }
    assert.ok(errors.has("ECONNREFUSED"), [...errors].join());
    errors.delete("ECONNREFUSED");
    errors.delete("ECONNRESET"); // handed to a process that was ending
    assert.deepEqual([...errors], []);
    await becomes(launcher, ready);
    assert.equal(await stopProcess(launcher), 0);
  });

  test("none takes a new connection once they stop, while a request is finished", async () => {
    const service = await start();
    const made = await bootstrapped({ DATABASE_URL: database.url });
    const body = JSON.stringify(canonicalBody(made.agentId));
    const headers = {
      "x-api-key": made.apiKey,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      expect: "100-continue",
    };
    const upload = request(`${service.url}/public/traces`, { method: "POST", agent: false, headers });
    const [answered, asked] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
    upload.on("response", response => answered.resolve(response.resume().statusCode!));
    upload.on("error", answered.reject).on("continue", asked.resolve).flushHeaders();
    await asked.promise;
    service.kill("SIGTERM");
    const isRefused = (error: { code?: string }) => error.code === "ECONNREFUSED";
    // Some of these reach a process that stops to listen just then. None waits for the end of the upload.
    const askAfter = (ms: number) => delay(ms).then(() => ask(service.url, "/readyz").catch(() => {}));
    await Promise.all(Array.from({ length: 40 }, (_, ms) => askAfter(ms)));
    await eventually(() => assert.rejects(ask(service.url, "/readyz"), isRefused));
    for (const _ of [1, 2, 3]) await assert.rejects(ask(service.url, "/healthz"), isRefused);
    upload.end(body);
    assert.equal(await answered.promise, 201);
    assert.equal(await service.exited, 0);
  });
});
