// npm run bench: measures ingestion and evaluation against a baseline server in the same run.
import { existsSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { openEmbedded } from "../src/embedded/database.ts";
import { allConventions } from "../src/model/conventions/conventions.ts";
import { against } from "./against.ts";
import { batchCost } from "./batches.ts";
import type { DriverInput, DriverOutput } from "./driver.ts";
import { evaluationRate } from "./evaluation.ts";
import { measureFairness } from "./fairness.ts";
import { growthTimes } from "./growth.ts";
import { hostileBodies } from "./hostile-bodies.ts";
import { httpProcessesCost } from "./http-processes.ts";
import { judgedChecks, judgedTests, judgingTimes } from "./judge-overhead.ts";
import { listTimes } from "./lists.ts";
import { hostileLoads, measureOverload, slowLoads } from "./overload.ts";
import { pageTimes } from "./pages.ts";
import { privacyCosts } from "./privacy.ts";
import { type Child, cpuSeconds, cpuSecondsOfTree, peakMb, start } from "./processes.ts";
import { makeProject } from "./project.ts";
import { shapes, spansPerTrace } from "./shapes.ts";
import type { Format } from "./traces.ts";

const seconds = Number(process.env.BENCH_SECONDS ?? 6);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const tracesPerTurn = Math.round(seconds * 333);

const dataDir = await mkdtemp(join(process.env.BENCH_DIR ?? "/var/tmp", "onlooker-bench-"));
// If this process is root, PostgreSQL runs as another user, which must be able to enter the folder.
await chmod(dataDir, 0o711);
const embedded = await openEmbedded({ dataDir, log: quietLog() });
const database = new pg.Client({ connectionString: embedded.url });
await database.connect();
const postmaster = Number(
  (await readFile(join(dataDir, "postgresql", "data", "postmaster.pid"), "utf8")).split("\n")[0],
);
const children: Child[] = [];

try {
  const at = process.argv.indexOf("--against");
  if (at >= 0) await ingestionAgainst(process.argv[at + 1] ?? "HEAD");
  else if (process.argv.includes("lists")) await lists();
  else if (process.argv.includes("growth")) await growth();
  else if (process.argv.includes("pages")) await pages();
  else if (process.argv.includes("judging")) await judging();
  else if (process.argv.includes("conventions")) await conventions();
  else if (process.argv.includes("privacy")) await privacy();
  else if (process.argv.includes("hostile")) await hostileTexts();
  else if (process.argv.includes("fairness")) await fairness();
  else if (process.argv.includes("overload")) await overload();
  else if (process.argv.includes("processes")) await httpProcesses();
  else {
    if (!process.argv.includes("--eval")) await ingestion();
    if (!process.argv.includes("--eval")) await batches();
    if (!process.argv.includes("--eval")) await conventions();
    await evaluation();
  }
} finally {
  await Promise.all(children.map(child => child.stop()));
  await database.end();
  await embedded.stop();
  await rm(dataDir, { recursive: true, force: true });
}
process.exit(0);

/** Measures each trace next to its own baseline, so that changes in the machine's speed affect both. */
async function judging(): Promise<void> {
  const judge = start("./judge.ts", []);
  children.push(judge);
  const { url: judgeUrl } = JSON.parse(await judge.nextLine()) as { url: string };
  const { agentId } = await makeProject(embedded.url, { serviceName: "bench", tests: 0 });
  const input = { agentId, judgeUrl, traces: 200, warmUp: 20 };
  const { judged, bare, again, callsPerTrace } = await judgingTimes(embedded.url, input);
  const overheads = judged.map((ms, trace) => ms - bare[trace]!);
  const p95 = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)]!;
  const times = (name: string, ms: number[]) =>
    print(row([name, medianOf(ms).toFixed(1), p95(ms).toFixed(1)]));
  print(
    `Judging: ${judgedTests} scenarios and ${judgedChecks} checks a trace, ${callsPerTrace} calls, one trace at a time`,
  );
  print(row(["", "p50 ms", "p95 ms"]));
  times("baseline: bare calls", bare);
  times("first evaluation", judged);
  times("overhead", overheads);
  times("second evaluation", again);
  const ratios = judged.map((ms, trace) => ms / bare[trace]!);
  print(`ratio to the baseline, median: ${medianOf(ratios).toFixed(2)}`);
  await judge.stop();
}

type Figures = DriverOutput & { service: number; postgres: number; driver: number };

/** Alternates between baseline and service, so that changes in the machine's speed affect both. */
async function ingestion(): Promise<void> {
  const baseline = start("./baseline.ts", []);
  children.push(baseline);
  const { url: baselineUrl } = JSON.parse(await baseline.nextLine()) as { url: string };
  const { service, url } = await startService({ SVC_ROLES: "http" });
  const project = await makeProject(embedded.url, { serviceName: "bench", tests: 0 });

  print("Ingestion: 12 spans, 27 KB a trace, 32 connections, every trace new");
  print(
    row([
      "",
      "traces/s",
      "spans/s",
      "MB/s",
      "p50 ms",
      "p99 ms",
      "CPU s per 1,000: service",
      "postgres",
      "driver",
    ]),
  );
  for (const format of ["json", "protobuf"] as Format[]) {
    const input = {
      key: project.apiKey,
      format,
      serviceName: "bench",
      connections: 32,
      seconds,
      warmUpSeconds: 2,
    };
    const baselines: Figures[] = [];
    const services: Figures[] = [];
    // Warm-up: a fresh database creates WAL files as it runs, while one in use recycles old ones.
    await drive({ ...input, url: `${url}/public/traces` }, service);
    for (let round = 0; round < rounds; round++) {
      baselines.push(await drive({ ...input, url: baselineUrl }, baseline));
      await database.query("checkpoint");
      services.push(await drive({ ...input, url: `${url}/public/traces` }, service));
    }
    const ratios = services.map((figures, round) => figures.traces / baselines[round]!.traces);
    print(figuresRow(`baseline, ${format}`, median(baselines)));
    print(figuresRow(`service, ${format}`, median(services)));
    print(
      `ratio to the baseline, ${format}: ${ratios.map(ratio => ratio.toFixed(2)).join(" ")}, median ${medianOf(ratios).toFixed(2)}`,
    );
  }
  print(`peak RSS of the service: ${peakMb(service.pid).toFixed(0)} MB`);
  await service.stop();
  await baseline.stop();
}

/** The same traces for an agent without conventions and one with all, in turns. */
async function conventions(): Promise<void> {
  const { service, url } = await startService({ SVC_ROLES: "http" });
  const agents = [
    { serviceName: "none", chosen: [] },
    { serviceName: "all", chosen: [allConventions] },
  ];
  const keys = new Map<string, string>();
  for (const { serviceName, chosen } of agents) {
    const made = await makeProject(embedded.url, { serviceName, tests: 0, conventions: chosen });
    keys.set(serviceName, made.apiKey);
  }
  print("\nConventions of the agent, none and all: CPU µs a trace of service and PostgreSQL");
  print(row(["", "none", "all", "ratio"]));
  for (const shape of shapes) {
    for (const format of ["json", "protobuf"] as Format[]) {
      const costs = new Map(agents.map(({ serviceName }) => [serviceName, [] as number[]]));
      // The first is the warm-up.
      for (let round = 0; round <= rounds; round++) {
        for (const { serviceName } of agents) {
          const key = keys.get(serviceName)!;
          const amount = { connections: 32, traces: tracesPerTurn, seconds: 0, warmUpSeconds: 0 };
          const input = { key, format, shape, serviceName, url: `${url}/public/traces`, ...amount };
          const figures = await drive(input, service);
          const cost = ((figures.service + figures.postgres) / figures.traces) * 1e6;
          if (round > 0) costs.get(serviceName)!.push(cost);
        }
      }
      const [none, all] = [medianOf(costs.get("none")!), medianOf(costs.get("all")!)];
      print(row([`${shape}, ${format}`, none.toFixed(0), all.toFixed(0), (all / none).toFixed(2)]));
    }
  }
  await service.stop();
}

/** Ten keys with four requests open each, then one of them with forty. */
async function fairness(): Promise<void> {
  const { service, url } = await startService({ SVC_ROLES: "http" });
  const found = await measureFairness({ databaseUrl: embedded.url, url, seconds, rounds });
  const listed = (ms: number[]) => ms.map(one => one.toFixed(0)).join(" ");
  print("Fairness: p99 in ms of nine keys, beside a tenth with as many requests and with ten times as many");
  print(row(["equal", listed(found.equal)]));
  print(row(["greedy", listed(found.greedy)]));
  print(
    `ratio, median: ${found.ratio.toFixed(2)}; the greedy key got ${found.greedyRequests} of ${found.requests}`,
  );
  print(`statuses: ${JSON.stringify(found.statuses)}; peak RSS ${peakMb(service.pid).toFixed(0)} MB`);
  await service.stop();
}

/**
 * Loads from outside what the service is made for, one after the other: all of them, with "slow" those for a slow PostgreSQL,
 * with another word those whose name contains it.
 */
async function overload(): Promise<void> {
  const word = process.argv.at(process.argv.indexOf("overload") + 1);
  const isSlow = word === "slow";
  const chosen = Object.entries(hostileLoads).filter(([name]) => name.includes(word ?? ""));
  const databaseUrl = isSlow ? await slowDatabase() : embedded.url;
  const { service, url } = await startService({ SVC_ROLES: "http", DATABASE_URL: databaseUrl });
  const given = {
    loads: isSlow ? slowLoads : Object.fromEntries(chosen),
    databaseUrl,
    url,
    pid: service.pid,
    seconds: Number(process.env.BENCH_SECONDS ?? 60),
  };
  print("Overload: statuses, and of a healthy agent p99 in ms, statuses, and seconds until it is as before");
  await measureOverload(
    given,
    ({ load, statuses, healthyP99Ms, floorP99Ms, healthy, recoveredMs, peakMb }) => {
      print(load);
      print(`  answers ${JSON.stringify(statuses)}; peak RSS ${peakMb.toFixed(0)} MB`);
      const after = (recoveredMs / 1_000).toFixed(1);
      print(
        `  healthy: p99 ${healthyP99Ms.toFixed(0)} ms, ${(healthyP99Ms / floorP99Ms).toFixed(1)} times the ${floorP99Ms.toFixed(0)} ms of ` +
          `a bare server that commits, ${JSON.stringify(healthy)}, recovered after ${after} s`,
      );
    },
  );
  await service.stop();
}

/** Through a proxy that lets 200 KB a second through: some hundred traces. */
async function slowDatabase(): Promise<string> {
  const { hostname, port } = new URL(embedded.url);
  const proxy = start("./slow-postgres.ts", [hostname, port, "200000"]);
  children.push(proxy);
  const slow = new URL(embedded.url);
  slow.port = await proxy.nextLine();
  return slow.href;
}

async function privacy(): Promise<void> {
  let service: Child | undefined;
  let url = "";
  const measure = await privacyCosts({
    database,
    databaseUrl: embedded.url,
    rounds,
    async costOf(input) {
      const amount = { connections: 32, traces: tracesPerTurn, seconds: 0, warmUpSeconds: 0 };
      const figures = await drive({ ...input, url: `${url}/public/traces`, ...amount }, service!);
      return ((figures.service + figures.postgres) / figures.traces) * 1e6;
    },
  });
  ({ service, url } = await startService({ SVC_ROLES: "http" }));
  await measure(print);
  await service.stop();
}

async function hostileTexts(): Promise<void> {
  const measure = await hostileBodies({ database, databaseUrl: embedded.url });
  const { service, url } = await startService({ SVC_ROLES: "http" });
  await measure(url, service.pid, print);
  await service.stop();
}

async function batches(): Promise<void> {
  const { service, url } = await startService({ SVC_ROLES: "http" });
  const project = await makeProject(embedded.url, { serviceName: "batches", tests: 1 });
  print("\nOne trace in many batches of 20 spans");
  for (const line of await batchCost(`${url}/public/traces`, project.apiKey, "batches")) print(line);
  await service.stop();
}

async function evaluation(): Promise<void> {
  const project = await makeProject(embedded.url, { serviceName: "judged", tests: 20 });
  const { service: receiver, url } = await startService({ SVC_ROLES: "http", SVC_DEBOUNCE_MS: "0" });
  const input = { key: project.apiKey, format: "protobuf", serviceName: "judged", connections: 32 } as const;
  const stored = await drive({ ...input, url: `${url}/public/traces`, seconds, warmUpSeconds: 0 }, receiver);
  await receiver.stop();
  print("\nEvaluation: 20 deterministic tests a trace");
  const before = cpuSecondsOfTree(postmaster);
  const worker = await startService({ SVC_ROLES: "worker", SVC_DEBOUNCE_MS: "0" });
  const rate = await evaluationRate(database, project.agentId);
  const cpu = (total: number) => ((total / rate.runs) * 1000).toFixed(2);
  print(
    `${rate.perSecond.toFixed(0)} evaluated traces/s (${rate.runs} in ${rate.seconds.toFixed(1)} s); ingestion of the same traces: ${(stored.traces / stored.seconds).toFixed(0)}/s; ` +
      `CPU s per 1,000: worker ${cpu(cpuSeconds(worker.service.pid))}, postgres ${cpu(cpuSecondsOfTree(postmaster) - before)}; ` +
      `peak RSS ${peakMb(worker.service.pid).toFixed(0)} MB`,
  );
  await worker.service.stop();
}

/** With `--ranges 0,1,9`: databases of the same size, whose batches are in so many ranges. */
async function growth(): Promise<void> {
  const option = (name: string) => process.argv[process.argv.indexOf(name) + 1 || Infinity];
  const large = Number(option("--traces") ?? 10_000_000);
  const ranges = option("--ranges")?.split(",").map(Number);
  const variants = ranges
    ? ranges.map(count => ({ traces: large, ranges: count }))
    : [10_000, large].map(traces => ({ traces, ranges: 9 }));
  await growthTimes(database, embedded.url, { variants, rounds: 41, print });
}

async function lists(): Promise<void> {
  const traces = Number(process.env.BENCH_TRACES ?? 1_000_000);
  for (const line of await listTimes(database, embedded.url, traces)) print(line);
}

async function pages(): Promise<void> {
  const traces = Number(process.env.BENCH_TRACES ?? 1_000_000);
  const { service, url } = await startService({ SVC_DEBOUNCE_MS: "0", SVC_DATA_DIR: dataDir });
  for (const line of await pageTimes({ database, url, traces })) print(line);
  await service.stop();
}

async function ingestionAgainst(commit: string): Promise<void> {
  const lines = against({
    ...{ commit, rounds, tracesPerTurn: 3 * tracesPerTurn },
    async newDatabase(name) {
      await database.query(`create database ${name}`);
      const url = new URL(embedded.url);
      url.pathname = name;
      return url.href;
    },
    startService: ({ root, databaseUrl }) =>
      startService({ SVC_ROLES: "http", DATABASE_URL: databaseUrl }, root),
    drive: (input, server) => drive(input, server, "./prepared-driver.ts"),
    betweenTurns: () => database.query("checkpoint"),
  });
  for await (const line of lines) print(line);
}

async function httpProcesses(): Promise<void> {
  const { apiKey: key } = await makeProject(embedded.url, { serviceName: "bench", tests: 0 });
  const lines = httpProcessesCost({
    ...{ rounds, tracesPerTurn, key, database, startService },
    drive: (input, server) => drive(input, server, "./prepared-driver.ts"),
  });
  for await (const line of lines) print(line);
}

/** `root`: the checkout whose service it is. It is started with the flags that its launcher would give it. */
async function startService(
  env: Record<string, string>,
  root = join(import.meta.dirname, ".."),
): Promise<{ service: Child; url: string }> {
  const own = { DATABASE_URL: embedded.url, PORT: "0", SVC_HTTP_PROCESSES: "1" };
  const service = start(`file://${root}/src/main.ts`, [], { ...own, ...env }, await heapFlagsOf(root));
  children.push(service);
  for (;;) {
    const { url } = JSON.parse(await service.nextLine()) as { url?: string };
    if (url) return { service, url };
  }
}

async function heapFlagsOf(root: string): Promise<string[]> {
  const module = join(root, "scripts/launch/heap.mjs");
  return existsSync(module) ? (await import(module)).heapFlags(process.execPath) : [];
}

async function drive(input: DriverInput, server: Child, script = "./driver.ts"): Promise<Figures> {
  const before = { service: cpuSecondsOfTree(server.pid), postgres: cpuSecondsOfTree(postmaster) };
  const driver = start(script, [JSON.stringify(input)]);
  const output = JSON.parse(await driver.nextLine()) as DriverOutput;
  const figures = {
    ...output,
    service: cpuSecondsOfTree(server.pid) - before.service,
    postgres: cpuSecondsOfTree(postmaster) - before.postgres,
    driver: output.cpuSeconds,
  };
  await driver.stop();
  if (output.failed > 0) throw new Error(`${output.failed} requests failed`);
  return figures;
}

function figuresRow(name: string, figures: Figures): string {
  const { traces, bytes, seconds, p50Ms, p99Ms } = figures;
  // CPU time includes the warm-up.
  const share = seconds / (seconds + 2);
  const per1000 = (cpu: number) => (((cpu * share) / traces) * 1000).toFixed(3);
  return row([
    name,
    (traces / seconds).toFixed(0),
    ((traces * spansPerTrace) / seconds).toFixed(0),
    (bytes / seconds / 1e6).toFixed(1),
    p50Ms.toFixed(1),
    p99Ms.toFixed(1),
    per1000(figures.service),
    per1000(figures.postgres),
    per1000(figures.driver),
  ]);
}

function row(cells: string[]): string {
  return cells
    .map((cell, index) => (index === 0 ? cell.padEnd(24) : cell.padStart(Math.max(9, cell.length))))
    .join(" ");
}

/** The round with the median number of traces. */
function median(figures: Figures[]): Figures {
  return figures.toSorted((a, b) => a.traces - b.traces)[Math.floor(figures.length / 2)]!;
}

function medianOf(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function quietLog() {
  return {
    info: () => {},
    warn: (_: unknown, message?: string) => print(message ?? ""),
    error: console.error,
  };
}
