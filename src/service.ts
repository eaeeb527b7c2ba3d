// Runs the service on one machine: opens the database, starts its roles, in one process or several, and stops without
// losing anything.
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { openEmbedded } from "./embedded/database.ts";
import { folderIn } from "./embedded/folder.ts";
import { buildHealthApp } from "./http/app.ts";
import { joinMetrics, measureDatabase, metrics, ownMetrics } from "./http/health.ts";
import { startJobs } from "./jobs.ts";
import { isOnlyThisMachine } from "./model/only-this-machine.ts";
import { guardOf } from "./remote/outbound-targets.ts";
import {
  connectionsFor,
  type Layout,
  layOut,
  leaderMain,
  ownPools,
  reserve,
  wantedProcesses,
} from "./service/connections.ts";
import { Evaluators } from "./service/evaluators.ts";
import { HttpProcesses } from "./service/http-processes.ts";
import { countJudgeCall, listen, type ServiceOptions, serveHttp } from "./service/http-server.ts";
import { type Opened, openParts } from "./service/parts.ts";
import { ThreadedErasures } from "./service/threaded-erasures.ts";
import { readClusterLimit } from "./store/cluster/nodes.ts";
import { openStore } from "./store/cluster/open.ts";
import { readConnectionLimit } from "./store/connection/connection-limit.ts";
import type { Addresses, Database } from "./store/db.ts";
import { clearWaits } from "./store/judge/states.ts";
import { prepareDatabase, untilAnswered } from "./store/prepare.ts";
import { giveBackRuns } from "./store/runs/claims.ts";
import { retryWaitingSoon } from "./store/runs/waiting.ts";
import { isOtherMasterKey } from "./store/secrets/key-check.ts";
import { masterKeyOf } from "./store/secrets/master-key.ts";
import { openVault } from "./store/secrets/vault.ts";
import { traceLimits } from "./threads/heap.ts";

export type Service = {
  /** Its URL on this machine, with the actual port. */
  url: string;
  /** Of the database itself, not of a pooler. */
  databaseUrl: string;
  /** Processes that serve HTTP; 0 without that role. With more than one, they are others than this. */
  httpProcesses: number;
  /** Resolves with the reason if it cannot serve any longer, and has to be stopped and started again. */
  lost: Promise<string>;
  /** Stops accepting requests, finishes open ones, releases leases, stops the embedded database. */
  stop(): Promise<void>;
};

/**
 * Throws ConfigError, EmbeddedError, UnfitDatabaseError, or what listening on the port throws. `signal` ends a wait for the
 * database and for HTTP processes, and then it throws; the other options are for a single process.
 */
export async function startService(
  given: Config,
  log: Logger,
  { signal, ...options }: ServiceOptions & { signal?: AbortSignal } = {},
): Promise<Service> {
  const { dataDir } = given;
  if (!given.databaseUrl) log.info({ dataDir }, `Starting PostgreSQL; its data is in ${dataDir}`);
  const embedded = given.databaseUrl ? undefined : await openEmbedded({ dataDir, log, ...roomFor(given) });
  const configured = addressesOf(given, given.databaseUrl ?? embedded!.url);
  // Closed in reverse order, each once, whether the start succeeded or not.
  const closing: (() => Promise<unknown>)[] = embedded ? [() => embedded.stop()] : [];
  let evaluators: Evaluators | undefined;
  const stop = async () => {
    // First, so that the evaluators finish while open requests finish.
    void evaluators?.stop();
    for (const close of closing.splice(0).reverse()) {
      await close().catch(error => log.error({ err: error }, "failed to close a part of the service"));
    }
  };
  try {
    const addresses = await prepareDatabase(configured, log, signal);
    signal?.throwIfAborted();
    const layout = await layoutOf(given, addresses);
    if (layout.shortage) log.warn(layout.shortage);
    const db = openStore(addresses, layout.processes === 1 ? ownPools.main : leaderMain, { log });
    closing.push(() => db.close());
    const config = { ...given };
    const vault = openVault(await masterKeyOf(config));
    if (await untilAnswered(() => isOtherMasterKey(db, vault))) log.warn(otherKeyWarning);
    logTargets(config, log);
    if (config.roles.includes("worker")) {
      // The limits of judges, such as a Retry-After, are those of a process: a restart clears them.
      await untilAnswered(() => clearWaits(db));
      await untilAnswered(() => retryWaitingSoon(db, null, 0));
      const started = startEvaluators(config, addresses, db, log);
      evaluators = started;
      closing.push(() => started.stop());
    }
    const opened = { db, addresses, vault, log, closing };
    const { promise: lost, resolve: lose } = Promise.withResolvers<string>();
    const url = config.roles.includes("http")
      ? await serve(config, { ...opened, evaluators, layout, lose, signal }, options)
      : await serveHealth(config, opened);
    return { url, databaseUrl: addresses.directUrl, httpProcesses: layout.processes, lost, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The embedded database is started with as many connections as this machine's processes need. */
function roomFor(config: Config): { maxConnections?: number } {
  const processes = config.roles.includes("http") ? wantedProcesses(config) : 0;
  // PostgreSQL keeps three for superusers.
  return { maxConnections: Math.max(100, connectionsFor(config, processes) + 3) };
}

async function layoutOf(config: Config, addresses: Addresses): Promise<Layout> {
  const wanted = config.roles.includes("http") ? wantedProcesses(config) : 0;
  if (wanted <= 1) return inThisProcess(config, addresses, wanted);
  const given = config.databaseConnections;
  if (given !== undefined) return layOut(config, { limit: given, reserve: 0 });
  if (addresses.pooled) return layOut(config, undefined);
  return layOut(config, { limit: await readLimit(addresses), reserve });
}

/** Opens connections as it needs them, so it starts with too few as well, and says so. `processes`: 0 for a worker alone. */
async function inThisProcess(config: Config, addresses: Addresses, processes: number): Promise<Layout> {
  const layout: Layout = { processes, pools: ownPools };
  if (addresses.pooled) return layout;
  const given = config.databaseConnections;
  const limit = given ?? (await readLimit(addresses));
  const least = connectionsFor(config, processes) - (given === undefined ? 0 : reserve);
  if (least <= limit) return layout;
  const to = addresses.distributed ? "the coordinator and twice as many to each worker" : "the database";
  const shortage = `This service needs up to ${least} connections to ${to}, and ${limit} are allowed. Raise ${given === undefined ? "max_connections" : "SVC_DATABASE_CONNECTIONS"}, or lower SVC_EVALUATORS.`;
  return { ...layout, shortage };
}

/** Others may have taken the last connection since the database was prepared. */
function readLimit(addresses: Addresses): Promise<number> {
  const read = addresses.distributed ? readClusterLimit : readConnectionLimit;
  return untilAnswered(() => read(addresses));
}

function addressesOf(
  { databaseUrl, databasePooler, databaseDirectUrl, dataDir }: Config,
  url: string,
): Addresses {
  const home = databaseUrl === undefined ? folderIn(dataDir).home : undefined;
  return { url, directUrl: databaseDirectUrl ?? url, pooled: databasePooler === "transaction", home };
}

const otherKeyWarning =
  "secrets in this database were encrypted with another key: set the same SVC_SECRET_KEY on all nodes, or use the same secret.key; connections whose secrets cannot be read say so, and traces that need a pseudonym are answered 503";

function logTargets(config: Config, log: Logger): void {
  const targets = config.allowPrivateTargets;
  if (targets.length === 0) return;
  const guard = guardOf(targets);
  const isOpen = ["127.0.0.1", "::1"].some(address => guard("localhost", address) === undefined);
  if (isOpen && !isOnlyThisMachine(config)) {
    log.warn(
      { targets },
      "SVC_ALLOW_PRIVATE_TARGETS lets every user of this service call what listens on this machine alone, such as its database: leave out loopback addresses unless you know all users",
    );
    return;
  }
  log.info(
    { targets },
    `Users may connect agents and judges at these private addresses: ${targets.join(", ")}`,
  );
}

function countJobStep(job: string, result: "done" | "fault", seconds: number): void {
  metrics.jobSteps.inc({ job, result });
  metrics.jobSeconds.inc({ job }, seconds);
}

function startEvaluators(config: Config, addresses: Addresses, db: Database, log: Logger): Evaluators {
  return new Evaluators({
    config,
    addresses,
    log,
    giveBack: held => giveBackRuns(db, held),
    onEvent(message) {
      if (message.type === "judge") countJudgeCall(message.call);
      else metrics.runs.inc({ outcome: message.state === "error" ? "error" : (message.verdict ?? "none") });
    },
  });
}

/** In this process, or in several others that this one leads. */
async function serve(
  config: { -readonly [Name in keyof Config]: Config[Name] },
  opened: Opened & {
    evaluators: Evaluators | undefined;
    layout: Layout;
    lose: (reason: string) => void;
    signal: AbortSignal | undefined;
  },
  options: ServiceOptions,
): Promise<string> {
  const { db, addresses, evaluators, layout, lose, signal, log, closing } = opened;
  const parts = openParts(config, opened);
  const limits = traceLimits(config.bounds.traceBytesMax);
  const erasureThread = new ThreadedErasures({ addresses, limits, log });
  closing.push(() => erasureThread.close());
  const jobs = startJobs({
    ...opened,
    ...parts,
    mailer: config.smtpUrl === undefined ? null : parts.mailer,
    directUrl: addresses.directUrl,
    serverDays: config.retentionDays ?? null,
    limits: parts.mergeLimits,
    // Read again for each alert: the base URL is known once the port is.
    config,
    work: erasureThread,
    onForgotten: trace => parts.events.publish({ type: "trace", ...trace, change: "forgotten" }),
    onDeleted: traces => metrics.tracesExpired.inc(traces),
    onStep: countJobStep,
  });
  closing.push(() => jobs.stop());
  const wakes = { ...jobs, evaluators: () => evaluators?.wake() };
  if (layout.processes === 1) {
    metrics.httpProcesses.set(1);
    const ingestionConnections = layout.pools.ingestion;
    return serveHttp(config, { ...opened, parts, wakes, erasureThread, ingestionConnections }, options);
  }
  const processes = new HttpProcesses({
    ...{ config: { ...config }, addresses, layout, log, wakes, onNoneLeft: lose },
    async metrics() {
      const [measured] = await Promise.all([processes.measure(), measureDatabase(db)]);
      return joinMetrics([await ownMetrics(), ...measured]);
    },
  });
  closing.push(() => processes.stop());
  signal?.throwIfAborted();
  const stopStart = () => void processes.stop();
  signal?.addEventListener("abort", stopStart);
  const url = await processes.start();
  signal?.removeEventListener("abort", stopStart);
  // For links in alerts.
  if (config.port === 0) config.baseUrl = `http://localhost:${new URL(url).port}`;
  return url;
}

async function serveHealth(config: Config, { db, log, closing }: Opened): Promise<string> {
  return listen(await buildHealthApp({ db, log }), { ...config }, closing);
}
