// An HTTP process: serves HTTP on the port that it shares with others, until the process that leads stops it or ends.

import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { Machine } from "../http/frame/machine.ts";
import { requestsMax } from "../http/frame/session.ts";
import { ownMetrics } from "../http/health.ts";
import { logStream, openLog } from "../log.ts";
import { openStore } from "../store/cluster/open.ts";
import type { Addresses } from "../store/db.ts";
import { masterKeyOf } from "../store/secrets/master-key.ts";
import { openVault } from "../store/secrets/vault.ts";
import { traceLimits } from "../threads/heap.ts";
import { borrowPermits } from "../threads/named-permits.ts";
import { codeOnDisk, otherCode } from "./code.ts";
import { type Layout, ownPools } from "./connections.ts";
import { serveHttp, type Wakes } from "./http-server.ts";
import { Led } from "./led.ts";
import { openParts } from "./parts.ts";
import { Peer } from "./peer.ts";
import { ThreadedErasures } from "./threaded-erasures.ts";

const closing: (() => Promise<unknown>)[] = [];
let led: Led | undefined;
const leader = new Peer((message, onError) => void process.send!(message, undefined, undefined, onError), {
  measure: ownMetrics,
  alive: (serving: number) => led?.hear(serving),
  stop: () => void stop(),
});
process.on("message", message => leader.receive(message));
// Node ends this process as soon as the one that leads has ended.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => void stop());

let log: Logger | undefined;
let started: Promise<string> | undefined;
let stopping: Promise<void> | undefined;

try {
  const settings = await leader.call<HttpProcessSettings>("settings");
  // Read after this process has loaded its own, so that both are of one version.
  if (settings.code !== codeOnDisk()) throw Object.assign(new Error("Other files"), { code: otherCode });
  log = openLog(settings.config.logLevel, logStream(settings.config.logFormat)).child({
    process: settings.number,
  });
  started = serve(settings, log);
  await leader.call("serving", { url: await started });
} catch (error) {
  const { message, stack, code, port } = error as Error & StartFailure;
  await leader.call("failed", { message, stack, code, port }).catch(() => {});
  process.exit(1);
}

async function serve(
  { config: given, addresses, layout }: HttpProcessSettings,
  log: Logger,
): Promise<string> {
  const config = { ...given };
  const db = openStore(addresses, layout.pools.main);
  closing.push(() => db.close());
  const vault = openVault(await masterKeyOf(config));
  const opened = { db, addresses, vault, log, closing };
  const parts = openParts(config, opened);
  const limits = traceLimits(config.bounds.traceBytesMax);
  const erasureThread = new ThreadedErasures({ addresses, limits, log });
  closing.push(() => erasureThread.close());
  const known = new Led(layout.processes);
  led = known;
  const machine: Machine = {
    processes: layout.processes,
    apiRequestsMax: Math.ceil((requestsMax * layout.pools.main) / ownPools.main),
    permits: borrowPermits(message => leader.call("permit", message)),
    links: {
      keep: (accountId, link) => leader.call("keepLink", { accountId, link }),
      find: accountId => leader.call("findLink", accountId),
    },
    metrics: () => leader.call("metrics"),
    health: () => known.health(),
  };
  const wakes = {
    evaluators: throttled(() => leader.tell("wake", "evaluators" satisfies keyof Wakes)),
    alerts: () => leader.tell("wake", "alerts" satisfies keyof Wakes),
    erase: () => leader.tell("wake", "erase" satisfies keyof Wakes),
    retain: () => leader.tell("wake", "retain" satisfies keyof Wakes),
  };
  const ingestionConnections = layout.pools.ingestion;
  return serveHttp(config, { ...opened, parts, wakes, erasureThread, ingestionConnections, machine }, {});
}

/** Finishes open requests. */
function stop(): Promise<void> {
  stopping ??= (async () => {
    // A start that fails ends the process.
    await started?.catch(() => {});
    for (const close of closing.splice(0).reverse()) {
      await close().catch(error => log?.error({ err: error }, "failed to close a part of the service"));
    }
    await leader.call("counted", await ownMetrics()).catch(() => {});
    process.exit(0);
  })();
  return stopping;
}

// Each message costs both processes some 20 µs, and evaluation begins later anyway.
const wakeEveryMs = 20;

/** Calls at once, and then at most once in that time. */
function throttled(call: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let again = false;
  const wait = () => {
    timer = setTimeout(() => {
      timer = undefined;
      if (again) begin();
    }, wakeEveryMs);
  };
  const begin = () => {
    again = false;
    call();
    wait();
  };
  return () => {
    if (timer) again = true;
    else begin();
  };
}

/** What an HTTP process is told when it starts. */
export type HttpProcessSettings = {
  /** From 1; the one that replaces it has the same. */
  number: number;
  config: Config;
  addresses: Addresses;
  layout: Layout;
  /** What the process that leads was started from. */
  code: string;
};

/** What kept an HTTP process from starting. */
export type StartFailure = { message: string; stack?: string; code?: string; port?: number };
