// Serves HTTP in one process: ingestion, the API and the dashboard.
import type { Config } from "../config.ts";
import { buildApp } from "../http/app.ts";
import { EventHub } from "../http/events.ts";
import type { App, Deps } from "../http/frame/deps.ts";
import { metrics } from "../http/health.ts";
import { serviceRoutes } from "../http/routes.ts";
import type { LogsDeps } from "../ingest/logs.ts";
import { Preparer } from "../ingest/preparer.ts";
import type { IngestDeps } from "../ingest.ts";
import type { JobWakes } from "../jobs.ts";
import type { CountedCall } from "../model/judge/call.ts";
import { openProbes } from "../remote/judge/probe.ts";
import { KeyUses } from "../store/accounts/key-uses.ts";
import { openStore } from "../store/cluster/open.ts";
import { subscribe } from "../store/events.ts";
import { requireConnection } from "../store/runs/agent-connections.ts";
import { requireRoomFor } from "../store/runs/pending.ts";
import { JoinRetry } from "../store/traces/join-retry.ts";
import type { NamedTrace } from "../store/traces/otlp-ids.ts";
import { storeRecords } from "../store/traces/records.ts";
import { TraceWriter } from "../store/traces/writer.ts";
import { traceLimits } from "../threads/heap.ts";
import { refreshColumns } from "../trace-reader.ts";
import { lookups } from "./lookups.ts";
import type { Opened, Parts } from "./parts.ts";
import { ThreadedEditor } from "./threaded-editor.ts";
import type { ThreadedErasures } from "./threaded-erasures.ts";
import { ThreadedTraceReader } from "./threaded-trace-reader.ts";

export type ServiceOptions = Pick<Deps, "passwordHashing" | "limitAccounts">;

/** What looks for new work at once, in this process or in another. */
export type Wakes = JobWakes & { evaluators(): void };

export type HttpServerDeps = Opened & {
  parts: Parts;
  wakes: Wakes;
  erasureThread: Pick<ThreadedErasures, "holders">;
  /** Connections for ingestion alone. */
  ingestionConnections: number;
  machine?: Deps["machine"];
};

// Timeout of an ingestion query: an exporter gives up on a request after 10 s.
const ingestionAnswerMs = 5_000;

// When the service stops, open requests may take this long; then their connections are closed.
const requestGraceMs = 8_000;

export function countJudgeCall({ kind, state }: CountedCall): void {
  metrics.judgeCalls.inc({ kind, state });
}

/** Listens on the port of `config`, and sets its base URL if any free port was asked for. Returns the URL here. */
export async function serveHttp(
  config: Config & { baseUrl: string },
  opened: HttpServerDeps,
  options: ServiceOptions,
): Promise<string> {
  const { db, addresses, vault, log, closing, parts, wakes, machine } = opened;
  const { events, ingestionLog, mailer, outbound, mergeLimits, onJoined, onDropped } = parts;
  // Separate connections: slow lists cannot use them up, and they time out while the exporter still waits.
  const ingestion = openStore(addresses, opened.ingestionConnections, { answerMs: ingestionAnswerMs });
  closing.push(() => ingestion.close());
  const keyUses = new KeyUses(db);
  closing.push(() => keyUses.close());
  const preparer = new Preparer({
    limits: {
      nestingMax: config.bounds.nestingMax,
      spansMax: config.bounds.requestSpansMax,
      tracesMax: config.bounds.requestTracesMax,
      elementsMax: config.bounds.requestElementsMax,
    },
    bodyBytesMax: config.bounds.bodyBytesMax,
    log,
  });
  closing.push(() => preparer.close());
  const editor = new ThreadedEditor({
    config,
    addresses,
    processes: machine?.processes ?? 1,
    log,
    onJudgeCall: countJudgeCall,
  });
  closing.push(() => editor.close());
  const limits = traceLimits(config.bounds.traceBytesMax);
  const reader = new ThreadedTraceReader({ db, addresses, log, limits });
  closing.push(() => reader.close());
  const hub = new EventHub();
  const subscription = subscribe(addresses.directUrl, event => hub.publish(event));
  closing.push(() => subscription.close());

  const derive = (traceIds: string[]) =>
    refreshColumns(db, reader, traceIds).catch((error: unknown) => {
      log.error({ err: error }, "the columns of a trace cannot be derived for its log records");
    });
  const joinRetry = new JoinRetry({
    ...{ db: ingestion, log, onJoined },
    limits: { ...mergeLimits, derive },
    onRefused: refused => onDropped("no_room", refused),
  });
  closing.push(() => joinRetry.close());
  const retryJoin = (traces: NamedTrace[]) => joinRetry.add(traces);

  const onAnswered: IngestDeps["onAnswered"] = (answers, key) => {
    keyUses.record(key.id);
    ingestionLog.record(answers, key);
  };
  const ingest: IngestDeps = {
    ...lookups(ingestion, vault),
    requireRoom: requireRoomFor(ingestion, { max: config.pendingRunsMax }),
    preparer,
    writer: new TraceWriter(ingestion, {
      ...mergeLimits,
      arriving: () => preparer.waiting,
      onRecordsRefused: refused => onDropped("no_room", refused),
      retryJoin,
    }),
    onStored({ agentId, traceId, state, path, evaluation, isExpired }) {
      if (!isExpired) events.publish({ type: "trace", agentId, traceId, change: state });
      if (evaluation === "scheduled" && path === "canonical") wakes.evaluators();
    },
    onAnswered,
  };
  const ingestLogs: LogsDeps = {
    ...ingest,
    storeRecords: writes => storeRecords(ingestion, writes, { ...mergeLimits, derive }, retryJoin),
    onJoined,
    onDropped,
  };
  const deps = {
    ...{ config, db, mailer, log, machine, ingest, ingestLogs, events, hub, editor, reader, vault, outbound },
    environmentJudge: config.judge ?? null,
    judgeTimeoutMs: config.judgeTimeoutMs,
    openProbe: openProbes({ outbound, log }),
    ...options,
    requireCallable: (agentId: string) => requireConnection(db, vault, agentId),
    onLaunch: wakes.evaluators,
    onAlert: wakes.alerts,
    erasures: { wake: wakes.erase, holders: opened.erasureThread.holders },
    retention: { wake: wakes.retain },
    judgeDeadlineMs: config.judgeDeadlineMs,
  };
  const app = await buildApp(deps, serviceRoutes(config.dashboardDir));
  // Of several processes, the one that leads says where they listen.
  const { level } = log;
  if (machine) log.level = "warn";
  const url = await listen(app, config, closing);
  log.level = level;
  return url;
}

/** Returns the URL on this machine, with the actual port. */
export async function listen(
  app: App,
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
  await app.listen({ port: config.port, host: config.host }).catch(error => {
    throw hostFaults.has(error.code) ? unusableHost(config.host, error) : error;
  });
  const { port } = app.server.address() as { port: number };
  if (config.port === 0) config.baseUrl = `http://localhost:${port}`;
  return urlOf(config.host, port);
}

/** The `code` of a start that fails for its SVC_HOST: the leader of several processes is told no more of an error. */
export const hostFault = "SVC_HOST";

/** No such name, no such address on this machine, or of a kind that it does not have. */
const hostFaults = new Set(["ENOTFOUND", "EAI_AGAIN", "EADDRNOTAVAIL", "EAFNOSUPPORT", "EINVAL"]);

function unusableHost(host: string, cause: Error): Error {
  const message = `SVC_HOST is "${host}": this machine cannot listen there (${cause.message}). Set it to one of its IP addresses or names, such as 127.0.0.1, 0.0.0.0 or ::.`;
  return Object.assign(new Error(message, { cause }), { code: hostFault });
}

function urlOf(host: string, port: number): string {
  const reached = ["0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host;
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}
