// Runs one process of the service: opens the database, starts its roles, and stops without losing anything.
import type { Logger } from "pino";
import { AlertSender } from "./alerts.ts";
import type { Config } from "./config.ts";
import { openEmbedded } from "./embedded/database.ts";
import { Eraser } from "./eraser.ts";
import { Forgetter } from "./forgetter.ts";
import { buildApp, buildHealthApp } from "./http/app.ts";
import type { Deps } from "./http/deps.ts";
import { EventHub } from "./http/events.ts";
import { metrics } from "./http/health.ts";
import { countDropped } from "./http/ingestion/public-logs.ts";
import { serviceRoutes } from "./http/routes.ts";
import type { LogsDeps } from "./ingest/logs.ts";
import { Preparer } from "./ingest/preparer.ts";
import { RecordExpiry } from "./ingest/record-expiry.ts";
import type { IngestDeps } from "./ingest.ts";
import { refusalsOf } from "./model/ingestion.ts";
import type { CountedCall } from "./model/judge/call.ts";
import { openProbes } from "./remote/judge/probe.ts";
import { openMailer } from "./remote/mail/mailer.ts";
import { openOutbound } from "./remote/outbound.ts";
import { Retention } from "./retention.ts";
import { Evaluators } from "./service/evaluators.ts";
import { lookups } from "./service/lookups.ts";
import { ThreadedEditor } from "./service/threaded-editor.ts";
import { ThreadedErasures } from "./service/threaded-erasures.ts";
import { ThreadedTraceReader } from "./service/threaded-trace-reader.ts";
import { KeyUses } from "./store/accounts/key-uses.ts";
import { type Addresses, type Database, openDatabase } from "./store/db.ts";
import { EventPublisher, subscribe } from "./store/events.ts";
import { IngestionLog } from "./store/ingestion/log.ts";
import { clearWaits } from "./store/judge/states.ts";
import { prepareDatabase } from "./store/prepare.ts";
import { requireConnection } from "./store/runs/agent-connections.ts";
import { retryWaitingSoon } from "./store/runs/waiting.ts";
import { isOtherMasterKey } from "./store/secrets/key-check.ts";
import { masterKeyOf } from "./store/secrets/master-key.ts";
import { openVault, type Vault } from "./store/secrets/vault.ts";
import type { JoinedTrace } from "./store/traces/join-records.ts";
import { storeRecords } from "./store/traces/records.ts";
import { TraceWriter } from "./store/traces/writer.ts";
import { traceLimits } from "./threads/heap.ts";

export type Service = {
  /** Its URL on this machine, with the actual port. */
  url: string;
  /** Of the database itself, not of a pooler. */
  databaseUrl: string;
  /** Stops accepting requests, finishes open ones, releases leases, stops the embedded database. */
  stop(): Promise<void>;
};

// Timeout of an ingestion query: an exporter gives up on a request after 10 s.
const ingestionAnswerMs = 5_000;

// When the service stops, open requests may take this long; then their connections are closed.
const requestGraceMs = 8_000;

export type ServiceOptions = Pick<Deps, "passwordHashing" | "limitAccounts">;

/** Throws ConfigError, EmbeddedError, UnfitDatabaseError, or what listening on the port throws. */
export async function startService(
  given: Config,
  log: Logger,
  options: ServiceOptions = {},
): Promise<Service> {
  const { dataDir } = given;
  if (!given.databaseUrl) log.info({ dataDir }, `Starting PostgreSQL; its data is in ${dataDir}`);
  const embedded = given.databaseUrl ? undefined : await openEmbedded({ dataDir, log });
  const addresses = addressesOf(given, given.databaseUrl ?? embedded!.url);
  const { url: databaseUrl, pooled } = addresses;
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
    await prepareDatabase(addresses, log);
    const db = openDatabase(databaseUrl, 10, { pooled });
    closing.push(() => db.close());
    const config = { ...given };
    const vault = openVault(await masterKeyOf(config));
    if (await isOtherMasterKey(db, vault)) log.warn(otherKeyWarning);
    logTargets(config, log);
    if (config.roles.includes("worker")) {
      // The limits of judges, such as a Retry-After, are those of a process: a restart clears them.
      await clearWaits(db);
      await retryWaitingSoon(db, null, 0);
      const started = startEvaluators(config, databaseUrl, log);
      evaluators = started;
      closing.push(() => started.stop());
    }
    const url = config.roles.includes("http")
      ? await serve(config, { db, addresses, evaluators, vault, log, closing }, options)
      : await serveHealth(config, { db, log, closing });
    return { url, databaseUrl: addresses.directUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function addressesOf({ databasePooler, databaseDirectUrl }: Config, url: string): Addresses {
  return { url, directUrl: databaseDirectUrl ?? url, pooled: databasePooler === "transaction" };
}

const otherKeyWarning =
  "secrets in this database were encrypted with another key: set the same SVC_SECRET_KEY on all nodes, or use the same secret.key; connections whose secrets cannot be read say so, and traces that need a pseudonym are answered 503";

function logTargets({ allowPrivateTargets: targets }: Config, log: Logger): void {
  if (targets.length === 0) return;
  log.info(
    { targets },
    `Users may connect agents and judges at these private addresses: ${targets.join(", ")}`,
  );
}

type Opened = { db: Database; log: Logger; closing: (() => Promise<unknown>)[] };

function startEvaluators(config: Config, databaseUrl: string, log: Logger): Evaluators {
  return new Evaluators({
    config,
    databaseUrl,
    log,
    onEvent(message) {
      if (message.type === "judge") countJudgeCall(message.call);
      else metrics.runs.inc({ outcome: message.state === "error" ? "error" : (message.verdict ?? "none") });
    },
  });
}

function countJudgeCall({ kind, state }: CountedCall): void {
  metrics.judgeCalls.inc({ kind, state });
}

async function serve(
  config: { -readonly [Name in keyof Config]: Config[Name] },
  opened: Opened & { addresses: Addresses; evaluators: Evaluators | undefined; vault: Vault },
  options: ServiceOptions,
): Promise<string> {
  const { db, addresses, evaluators, vault, log, closing } = opened;
  const { url: databaseUrl, pooled } = addresses;
  // Separate connections: slow lists cannot use them up, and they time out while the exporter still waits.
  const ingestion = openDatabase(databaseUrl, 6, { answerMs: ingestionAnswerMs, pooled });
  closing.push(() => ingestion.close());
  const events = new EventPublisher(db);
  closing.push(() => events.close());
  const keyUses = new KeyUses(db);
  closing.push(() => keyUses.close());
  const ingestionLog = new IngestionLog(db, log, counts => {
    for (const count of counts) {
      const { projectId, serviceName, keyId } = count;
      for (const code of refusalsOf(count)) {
        events.publish({ type: "ingestion", agentId: null, projectId, code, serviceName, keyId });
      }
    }
  });
  closing.push(() => ingestionLog.close());
  const mergeLimits = { ...config, ...config.bounds };
  const onJoined = ({ agentId, traceId }: JoinedTrace) =>
    events.publish({ type: "trace", agentId, traceId, change: "merged" });
  const expiry = new RecordExpiry({
    ...{ db, log, ingestionLog, onJoined },
    limits: mergeLimits,
    onDropped: countDropped,
  });
  closing.push(() => expiry.close());
  const preparer = new Preparer({
    limits: {
      nestingMax: config.bounds.nestingMax,
      spansMax: config.bounds.requestSpansMax,
      tracesMax: config.bounds.requestTracesMax,
      elementsMax: config.bounds.requestElementsMax,
    },
    bodyBytesMax: config.bounds.bodyBytesMax,
  });
  closing.push(() => preparer.close());
  const mailer = openMailer({
    smtpUrl: config.smtpUrl ?? null,
    from: config.mailFrom,
    outboxDir: `${config.dataDir}/outbox`,
    log,
  });
  closing.push(async () => mailer.close());
  const editor = new ThreadedEditor({ config, databaseUrl, log, onJudgeCall: countJudgeCall });
  closing.push(() => editor.close());
  const reader = new ThreadedTraceReader({
    db,
    databaseUrl,
    pooled,
    log,
    limits: traceLimits(config.bounds.traceBytesMax),
  });
  closing.push(() => reader.close());
  const outbound = openOutbound({ allow: config.allowPrivateTargets });
  closing.push(() => outbound.close());
  const alerts = new AlertSender({
    ...{ db, vault, outbound, config, log },
    mailer: config.smtpUrl === undefined ? null : mailer,
  });
  closing.push(() => alerts.stop());
  const limits = traceLimits(config.bounds.traceBytesMax);
  const erasureThread = new ThreadedErasures({ databaseUrl, pooled, limits, log });
  closing.push(() => erasureThread.close());
  const eraser = new Eraser({ db, vault, work: erasureThread, log });
  closing.push(() => eraser.stop());
  const retention = new Retention({
    ...{ db, log, serverDays: config.retentionDays ?? null },
    onDeleted: traces => metrics.tracesExpired.inc(traces),
  });
  closing.push(() => retention.stop());
  const forgetter = new Forgetter({
    ...{ db, log },
    forget: erasureThread.forget,
    onForgotten: trace => events.publish({ type: "trace", ...trace, change: "forgotten" }),
  });
  closing.push(() => forgetter.stop());
  const hub = new EventHub();
  const subscription = subscribe(addresses.directUrl, event => hub.publish(event));
  closing.push(() => subscription.close());

  const ingest: IngestDeps = {
    ...lookups(ingestion, vault),
    preparer,
    writer: new TraceWriter(ingestion, mergeLimits),
    onStored({ agentId, traceId, state, path, evaluation }, key) {
      events.publish({ type: "trace", agentId, traceId, change: state });
      if (key) keyUses.record(key.id);
      if (evaluation === "scheduled" && path === "canonical") evaluators?.wake();
    },
    onAnswered: (answers, key) => ingestionLog.record(answers, key),
  };
  const ingestLogs: LogsDeps = {
    ...ingest,
    storeRecords: writes => storeRecords(ingestion, writes, mergeLimits),
    onJoined,
    onAnswered(answers, key) {
      keyUses.record(key.id);
      ingestionLog.record(answers, key);
    },
  };
  const deps = {
    config,
    db,
    mailer,
    log,
    ingest,
    ingestLogs,
    events,
    hub,
    editor,
    environmentJudge: config.judge ?? null,
    judgeTimeoutMs: config.judgeTimeoutMs,
    openProbe: openProbes({ outbound, log }),
    reader,
    vault,
    outbound,
    ...options,
    requireCallable: (agentId: string) => requireConnection(db, vault, agentId),
    onLaunch: () => evaluators?.wake(),
    onAlert: () => alerts.wake(),
    erasures: { wake: () => eraser.wake(), holders: erasureThread.holders },
    retention,
    judgeDeadlineMs: config.judgeDeadlineMs,
  };
  const app = await buildApp(deps, serviceRoutes(config.dashboardDir));
  return listen(app, config, closing);
}

async function serveHealth(config: Config, { db, log, closing }: Opened): Promise<string> {
  return listen(await buildHealthApp({ db, log }), config, closing);
}

async function listen(
  app: Awaited<ReturnType<typeof buildHealthApp>>,
  config: { port: number; host: string; baseUrl: string },
  closing: (() => Promise<unknown>)[],
): Promise<string> {
  closing.push(async () => {
    // A keep-alive connection stays open after its last answer, waiting for a next request.
    const idle = setInterval(() => app.server.closeIdleConnections(), 100);
    const cut = setTimeout(() => app.server.closeAllConnections(), requestGraceMs);
    await app.close();
    clearInterval(idle);
    clearTimeout(cut);
  });
  await app.listen({ port: config.port, host: config.host });
  const { port } = app.server.address() as { port: number };
  if (config.port === 0) config.baseUrl = `http://localhost:${port}`;
  const host = ["0.0.0.0", "::"].includes(config.host) ? "127.0.0.1" : config.host;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
