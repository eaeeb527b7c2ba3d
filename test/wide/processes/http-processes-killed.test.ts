// HTTP processes that are killed again and again, hang, or lose the process that leads them: no client waits for an answer
// that nobody will give, and nothing is left running.
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  childrenOf,
  httpProcessesOf,
  isRunning,
  type ServiceProcess,
  startedBeside,
  startProcess,
  stopProcess,
  stopProcesses,
} from "../../flow/processes.ts";
import { eventually } from "../../support/eventually.ts";
import { freshDatabase } from "../../support/postgres.ts";

const database = await freshDatabase();
after(async () => {
  await stopProcesses();
  await database.drop();
});

const start = () =>
  startProcess({ DATABASE_URL: database.url, SVC_HTTP_PROCESSES: "3", SVC_LOG_LEVEL: "debug" });

const pidsOf = (service: ServiceProcess) => [...httpProcessesOf(service).values()];

/** How a request on a new connection ended, and how long it took. */
function ask(url: string): Promise<{ end: "answered" | "closed"; ms: number }> {
  const begun = performance.now();
  return new Promise(resolve => {
    const end = (how: "answered" | "closed") => resolve({ end: how, ms: performance.now() - begun });
    const outgoing = request(`${url}/healthz`, { agent: false, timeout: 60_000 }, response => {
      response
        .resume()
        .on("end", () => end("answered"))
        .on("error", () => end("closed"));
    });
    outgoing.on("timeout", () => outgoing.destroy()).on("error", () => end("closed"));
    outgoing.end();
  });
}

test("six processes killed under clients that connect for every request leave none of them waiting", async () => {
  const service = await start();
  const slow: number[] = [];
  const ends = { answered: 0, closed: 0 };
  let isStopping = false;
  const clients = Array.from({ length: 30 }, async () => {
    while (!isStopping) {
      const { end, ms } = await ask(service.url);
      ends[end]++;
      // While none is there, connections are refused at once.
      if (end === "closed") await delay(10);
      if (ms > 15_000) slow.push(ms);
    }
  });
  try {
    for (let kill = 0; kill < 6; kill++) {
      const killed = pidsOf(service)[kill % 3]!;
      process.kill(killed, "SIGKILL");
      await eventually(() => assert.ok(!pidsOf(service).includes(killed)));
    }
  } finally {
    isStopping = true;
    await Promise.all(clients);
  }
  assert.deepEqual(slow, []);
  assert.ok(ends.answered > 500, JSON.stringify(ends));
  assert.equal(await stopProcess(service), 0);
});

// Side by side: each waits until a process has not answered for 20 s.
suite("among three HTTP processes", { concurrency: true }, () => {
  test("a process that hangs is killed and replaced, and the others answer meanwhile", async () => {
    const service = await start();
    const [hanging] = pidsOf(service);
    process.kill(hanging!, "SIGSTOP");
    // At most one connection is handed to the process that hangs: it is closed when that is killed.
    const ends = await Promise.all(Array.from({ length: 6 }, () => ask(service.url)));
    assert.ok(ends.filter(({ end }) => end === "answered").length >= 5);
    await eventually(() => assert.ok(service.logs.some(line => line.includes("hangs; killing it"))));
    await eventually(() => assert.ok(!pidsOf(service).includes(hanging!)));
    assert.equal(await stopProcess(service), 0);
  });

  test("a process that takes long to load is not taken for one that hangs", async () => {
    const service = await start();
    const [killed, hanging] = pidsOf(service);
    const before = childrenOf(service.pid!);
    process.kill(killed!, "SIGKILL");
    const loading = await startedBeside(service.pid!, before);
    process.kill(loading, "SIGSTOP");
    process.kill(hanging!, "SIGSTOP");
    const hangs = () => service.logs.filter(line => line.includes("hangs; killing it"));
    await eventually(() => assert.ok(hangs().length > 0));
    assert.equal(hangs().length, 1);
    process.kill(loading, "SIGCONT");
    await eventually(() => assert.ok(pidsOf(service).includes(loading)));
    assert.equal(hangs().length, 1);
    assert.equal(await stopProcess(service), 0);
  });
});

test("all end when the one that leads is killed, and leave the port", async () => {
  const service = await start();
  const pids = pidsOf(service);
  service.kill("SIGKILL");
  await service.exited;
  await eventually(() => assert.ok(!pids.some(isRunning)));
  const { end } = await ask(service.url);
  assert.equal(end, "closed");
});
