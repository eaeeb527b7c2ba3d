// /healthz, /readyz and /metrics: liveness, readiness and Prometheus metrics.
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from "@prometheus-io/client";
import { clockAheadMs, isClockOff } from "../store/clock.ts";
import type { Database } from "../store/db.ts";
import { isMigrated } from "../store/migrate.ts";
import { nextDueMs } from "../store/runs/claims.ts";
import { QueueStarts } from "../store/runs/queue-starts.ts";
import { countWaiting } from "../store/runs/waiting.ts";
import type { App, Deps } from "./frame/deps.ts";
import type { MachineHealth } from "./frame/machine.ts";

const registry = new Registry();
const registers = [registry];
collectDefaultMetrics({ register: registry });

/** The metrics of this process, for the rooms that count. */
export const metrics = {
  ingestRequests: new Counter({
    name: "svc_ingest_requests_total",
    help: "Ingestion requests by result: OK, PARTIAL or an error code.",
    labelNames: ["code"],
    registers,
  }),
  ingestSpans: new Counter({ name: "svc_ingest_spans_total", help: "Spans stored.", registers }),
  ingestRecords: new Counter({
    name: "svc_ingest_log_records_total",
    help: "Log records kept for their span.",
    registers,
  }),
  recordsDropped: new Counter({
    name: "svc_log_records_dropped_total",
    help: "Log records dropped, by reason: no_conventions, no_content, no_span or no_room.",
    labelNames: ["reason"],
    registers,
  }),
  tracesExpired: new Counter({
    name: "svc_traces_expired_total",
    help: "Traces deleted because their retention time was over.",
    registers,
  }),
  jobSteps: new Counter({
    name: "svc_job_steps_total",
    help: "Steps of background jobs, by job and result: done or fault.",
    labelNames: ["job", "result"],
    registers,
  }),
  jobSeconds: new Counter({
    name: "svc_job_seconds_total",
    help: "How long the steps of background jobs took, by job.",
    labelNames: ["job"],
    registers,
  }),
  runs: new Counter({
    name: "svc_runs_total",
    help: "Evaluations finished, by outcome.",
    labelNames: ["outcome"],
    registers,
  }),
  judgeCalls: new Counter({
    name: "svc_judge_calls_total",
    help: "Judge calls, by kind and the state of the answer.",
    labelNames: ["kind", "state"],
    registers,
  }),
  runsWaiting: new Gauge({
    name: "svc_runs_waiting",
    help: "Runs waiting for the judge, in the whole database; absent while the database is unavailable.",
    registers,
  }),
  runsOverdueSeconds: new Gauge({
    name: "svc_runs_overdue_seconds",
    help: "How long the first due evaluation has waited for a worker, in the whole database; 0 if none is due, absent while the database is unavailable.",
    registers,
  }),
  workersUnavailable: new Gauge({
    name: "svc_cluster_worker_unavailable",
    help: "1 for each worker of a Citus cluster that does not answer, by host and port.",
    labelNames: ["worker"],
    registers,
  }),
  httpProcesses: new Gauge({
    name: "svc_http_processes",
    help: "Processes that serve HTTP on this machine.",
    registers,
  }),
  httpProcessesEnded: new Counter({
    name: "svc_http_processes_ended_total",
    help: "HTTP processes that ended unexpectedly and were replaced.",
    registers,
  }),
  httpSeconds: new Histogram({
    name: "svc_http_request_duration_seconds",
    help: "Time from a request's headers to the end of its response.",
    labelNames: ["method", "route", "status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  }),
};

/** The values of one process, as they are sent between processes. */
export type Measured = MetricObjectWithValues<MetricValue<string>>[];

/** The metrics that this process counts. */
export function ownMetrics(): Promise<Measured> {
  return registry.getMetricsAsJSON();
}

/** Without them, each scrape would read the index entries of all runs that were claimed since the last vacuum. */
const starts = new QueueStarts();

/** Runs that wait for the judge, and for how long the first due one has waited; undefined: unavailable. */
type Queue = { waiting: number | undefined; overdueMs: number | undefined };

async function readQueue(db: Database): Promise<Queue> {
  const unavailable = () => undefined;
  const waiting = await countWaiting(db).catch(unavailable);
  const overdueMs = await nextDueMs(db, { starts }).then((ms = 0) => Math.max(0, -ms), unavailable);
  return { waiting, overdueMs };
}

/** A cluster asks all its shards for it, one server a few entries of indexes. */
const clusterQueueMs = 5_000;
const queues = new WeakMap<Database, { until: number; queue: Promise<Queue> }>();

/** On a cluster, all scrapes within a few seconds share one answer. */
function queueOf(db: Database): Promise<Queue> {
  if (!db.places) return readQueue(db);
  const now = performance.now();
  const known = queues.get(db);
  if (known && now < known.until) return known.queue;
  const queue = readQueue(db);
  queues.set(db, { until: now + clusterQueueMs, queue });
  return queue;
}

/** For the process that answers for the whole database. */
export async function measureDatabase(db: Database): Promise<void> {
  const { waiting, overdueMs } = await queueOf(db);
  if (waiting === undefined) metrics.runsWaiting.remove();
  else metrics.runsWaiting.set(waiting);
  if (overdueMs === undefined) metrics.runsOverdueSeconds.remove();
  else metrics.runsOverdueSeconds.set(overdueMs / 1000);
  metrics.workersUnavailable.reset();
  const unavailable = await db.places?.findUnavailable().catch(() => undefined);
  for (const worker of unavailable?.workers ?? []) metrics.workersUnavailable.set({ worker }, 1);
}

/**
 * The metrics of all processes as one: counters, histograms and memory are sums. What cannot be added, such as the
 * start time, is that of the first process.
 */
export function joinMetrics(processes: Measured[]): Promise<string> {
  const first = processes.map(measured =>
    measured.map(metric =>
      metric.aggregator === "omit" ? { ...metric, aggregator: "first" as const } : metric,
    ),
  );
  return Registry.aggregate(first).metrics();
}

/** What stays true of processes that have ended: what they counted. */
export function countsOf(processes: Measured[]): Promise<Measured> {
  const counts = processes.map(measured =>
    measured.filter(({ type }) => type === "counter" || type === "histogram"),
  );
  return Registry.aggregate(counts).getMetricsAsJSON();
}

type Readiness =
  /** What keeps this process from storing. */
  | { status: "waiting"; waitingFor: "leader" | "migrations" | "clock" | "database" | "workers" }
  /** It finishes open requests, and ends. */
  | { status: "stopping" }
  | { status: "ready" }
  /** It stores, but HTTP processes of this machine are missing, or workers of a cluster with the agents that they have. */
  | ({ status: "degraded" } & Partial<Missing>);

type Missing = {
  httpProcessesMissing: number;
  httpProcesses: number;
  workersUnavailable: number;
  workers: number;
};

/** Without the process that leads, no new connection is handed out, and nothing is evaluated. */
const unled = { status: "waiting", waitingFor: "leader" } as const;

async function readiness({ pool, places }: Database, machine: MachineHealth | undefined): Promise<Readiness> {
  if (machine?.isLed === false) return unled;
  if (!(await isMigrated(pool))) return { status: "waiting", waitingFor: "migrations" };
  if (isClockOff(await clockAheadMs(pool))) return { status: "waiting", waitingFor: "clock" };
  const { workers, of } = places ? await places.findUnavailable() : { workers: [], of: 0 };
  if (of > 0 && workers.length === of) return { status: "waiting", waitingFor: "workers" };
  const missing: Partial<Missing> = {
    ...(machine &&
      machine.serving < machine.processes && {
        httpProcessesMissing: machine.processes - machine.serving,
        httpProcesses: machine.processes,
      }),
    ...(workers.length > 0 && { workersUnavailable: workers.length, workers: of }),
  };
  return Object.keys(missing).length === 0 ? { status: "ready" } : { status: "degraded", ...missing };
}

const metricsKeptMs = 1_000;

export function registerHealth(app: App, { db, machine }: Pick<Deps, "db" | "machine">): void {
  if (machine?.metrics) {
    // Counted by the process that puts all metrics together.
    for (const gauge of [metrics.runsWaiting, metrics.runsOverdueSeconds, metrics.httpProcesses])
      gauge.remove();
  }
  app.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url ?? "none";
    const labels = { method: request.method, route, status: reply.statusCode };
    metrics.httpSeconds.observe(labels, reply.elapsedTime / 1000);
  });

  const options = { config: { access: "open" }, schema: { hide: true } } as const;
  app.get("/healthz", options, async (_request, reply) => {
    // Only a restart helps, and on an older connection nobody would notice.
    if (machine?.health?.().isLed === false) return reply.code(503).header("retry-after", 1).send(unled);
    return { status: "ok" };
  });

  let isStopping = false;
  app.addHook("preClose", async () => {
    isStopping = true;
  });
  app.get("/readyz", options, async (_request, reply) => {
    const ready: Readiness = isStopping
      ? { status: "stopping" }
      : await readiness(db, machine?.health?.()).catch(() => ({ status: "waiting", waitingFor: "database" }));
    // A process that stores for some agents stays behind its balancer: the others are away for every process.
    if (ready.status === "waiting" || ready.status === "stopping") reply.code(503).header("retry-after", 1);
    return reply.send(ready);
  });

  let kept: { until: number; text: Promise<string> } | undefined;
  const measure = async () => {
    if (machine?.metrics) return machine.metrics();
    await measureDatabase(db);
    return registry.metrics();
  };
  app.get("/metrics", options, async (_request, reply) => {
    // Open to all who reach it, so asking more often costs nothing.
    if (!kept || performance.now() >= kept.until) {
      const fresh = { until: performance.now() + metricsKeptMs, text: measure() };
      kept = fresh;
      fresh.text.catch(() => {
        if (kept === fresh) kept = undefined;
      });
    }
    return reply.type(registry.contentType).send(await kept.text);
  });
}
