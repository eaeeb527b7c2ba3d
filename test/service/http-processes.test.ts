// HTTP processes that do not start: those that the system does not let start are reported, and a stop waits for none.
import assert from "node:assert/strict";
import cluster from "node:cluster";
import { after, test } from "node:test";
import { pino } from "pino";
import { readConfig } from "../../src/config.ts";
import { ownPools } from "../../src/service/connections.ts";
import { HttpProcesses } from "../../src/service/http-processes.ts";

const url = "postgresql://localhost/never-asked";

const twoProcesses = () =>
  new HttpProcesses({
    config: readConfig({ PORT: "0" }),
    addresses: { url, directUrl: url, pooled: false },
    layout: { processes: 2, pools: ownPools },
    log: pino({ level: "silent" }),
    wakes: { alerts() {}, erase() {}, retain() {}, evaluators() {} },
    metrics: async () => "",
    onNoneLeft() {},
  });

test("a stop does not wait for processes that are still starting", async () => {
  const processes = twoProcesses();
  const rejected = assert.rejects(processes.start(), /ended while it started \(SIGKILL\)/);
  await processes.stop();
  await rejected;
});

test("a start fails with the reason when no process can be created", async () => {
  cluster.setupPrimary({ cwd: "/nonexistent" });
  after(() => cluster.setupPrimary({ cwd: process.cwd() }));
  const processes = twoProcesses();
  await assert.rejects(processes.start(), /ended while it started .*ENOENT/);
  await processes.stop();
});
