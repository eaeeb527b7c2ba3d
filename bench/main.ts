// npm run bench: measures ingestion and evaluation against a baseline server in the same run, or what an argument names.
import { against } from "./against.ts";
import { batchCost } from "./batches.ts";
import { conventions } from "./conventions.ts";
import { evaluation } from "./evaluation.ts";
import { measureFairness } from "./fairness.ts";
import { print, row } from "./figures.ts";
import { growthTimes } from "./growth.ts";
import { hostileBodies } from "./hostile-bodies.ts";
import { httpProcessesCost } from "./http-processes.ts";
import { ingestion } from "./ingestion.ts";
import { judging } from "./judging.ts";
import { listTimes } from "./lists.ts";
import { hostileLoads, measureOverload, slowLoads } from "./overload.ts";
import { pageTimes } from "./pages.ts";
import { privacyCosts } from "./privacy.ts";
import { type Child, peakMb } from "./processes.ts";
import { makeProject } from "./project.ts";
import { settings } from "./settings.ts";
import { openStand } from "./stand.ts";

const seconds = Number(process.env["BENCH_SECONDS"] ?? 6);
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 3);
const tracesPerTurn = Math.round(seconds * 333);
const turns = { rounds, traces: tracesPerTurn };

const named: Record<string, () => Promise<void>> = {
  "--against": ingestionAgainst,
  "--eval": () => evaluation(stand, { seconds }),
  conventions: () => conventions(stand, turns),
  settings: () => settings(stand, turns),
  judging: () => judging(stand),
  lists,
  growth,
  pages,
  privacy,
  hostile: hostileTexts,
  fairness,
  overload,
  processes: httpProcesses,
};

const stand = await openStand();
try {
  const name = process.argv.slice(2).find(argument => Object.hasOwn(named, argument));
  if (name) await named[name]!();
  else {
    await ingestion(stand, { seconds, rounds });
    await batches();
    await settings(stand, turns);
    await evaluation(stand, { seconds });
  }
} finally {
  await stand.close();
}
process.exit(0);

/** Ten keys with four requests open each, then one of them with forty. */
async function fairness(): Promise<void> {
  const { service, url } = await stand.startService({ SVC_ROLES: "http" });
  const found = await measureFairness({ databaseUrl: stand.databaseUrl, url, seconds, rounds });
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
  const databaseUrl = isSlow ? await slowDatabase() : stand.databaseUrl;
  const { service, url } = await stand.startService({ SVC_ROLES: "http", DATABASE_URL: databaseUrl });
  const given = {
    loads: isSlow ? slowLoads : Object.fromEntries(chosen),
    databaseUrl,
    url,
    pid: service.pid,
    seconds: Number(process.env["BENCH_SECONDS"] ?? 60),
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
  const { hostname, port } = new URL(stand.databaseUrl);
  const proxy = stand.startProgram("./slow-postgres.ts", [hostname, port, "200000"]);
  const slow = new URL(stand.databaseUrl);
  slow.port = await proxy.nextLine();
  return slow.href;
}

async function privacy(): Promise<void> {
  let service: Child | undefined;
  let url = "";
  const measure = await privacyCosts({
    database: stand.database,
    databaseUrl: stand.databaseUrl,
    rounds,
    async costOf(input) {
      await stand.database.query("checkpoint");
      const amount = { connections: 32, traces: 3 * tracesPerTurn, seconds: 0, warmUpSeconds: 0 };
      const to = { ...input, url: `${url}/public/traces`, ...amount };
      const figures = await stand.drive(to, service!, "prepared");
      return ((figures.service + figures.postgres) / figures.traces) * 1e6;
    },
  });
  ({ service, url } = await stand.startService({ SVC_ROLES: "http" }));
  await measure(print);
  await service.stop();
}

async function hostileTexts(): Promise<void> {
  const measure = await hostileBodies(stand);
  const { service, url } = await stand.startService({ SVC_ROLES: "http" });
  await measure(url, service.pid, print);
  await service.stop();
}

async function batches(): Promise<void> {
  const { service, url } = await stand.startService({ SVC_ROLES: "http" });
  const project = await makeProject(stand.databaseUrl, { serviceName: "batches", tests: 1 });
  print("\nOne trace in many batches of 20 spans");
  for (const line of await batchCost(`${url}/public/traces`, project.apiKey, "batches")) print(line);
  await service.stop();
}

/** With `--ranges 0,1,9`: databases of the same size, whose batches are in so many ranges. */
async function growth(): Promise<void> {
  const option = (name: string) => process.argv[process.argv.indexOf(name) + 1 || Infinity];
  const large = Number(option("--traces") ?? 10_000_000);
  const ranges = option("--ranges")?.split(",").map(Number);
  const variants = ranges
    ? ranges.map(count => ({ traces: large, ranges: count }))
    : [10_000, large].map(traces => ({ traces, ranges: 9 }));
  await growthTimes(stand, { variants, rounds: 41, print });
}

async function lists(): Promise<void> {
  const traces = Number(process.env["BENCH_TRACES"] ?? 1_000_000);
  for (const line of await listTimes(stand.database, stand.databaseUrl, traces)) print(line);
}

async function pages(): Promise<void> {
  const traces = Number(process.env["BENCH_TRACES"] ?? 1_000_000);
  const { service, url } = await stand.startService({ SVC_DEBOUNCE_MS: "0", SVC_DATA_DIR: stand.dataDir });
  for (const line of await pageTimes({ database: stand.database, url, traces })) print(line);
  await service.stop();
}

async function ingestionAgainst(): Promise<void> {
  const commit = process.argv[process.argv.indexOf("--against") + 1] ?? "HEAD";
  const lines = against({
    ...{ commit, rounds, tracesPerTurn: 3 * tracesPerTurn },
    async newDatabase(name) {
      await stand.database.query(`create database ${name}`);
      const url = new URL(stand.databaseUrl);
      url.pathname = name;
      return url.href;
    },
    startService: ({ root, databaseUrl }) =>
      stand.startService({ SVC_ROLES: "http", DATABASE_URL: databaseUrl }, root),
    drive: (input, server) => stand.drive(input, server, "prepared"),
    betweenTurns: () => stand.database.query("checkpoint"),
  });
  for await (const line of lines) print(line);
}

async function httpProcesses(): Promise<void> {
  const { apiKey: key } = await makeProject(stand.databaseUrl, { serviceName: "bench", tests: 0 });
  const lines = httpProcessesCost({
    ...{ rounds, tracesPerTurn, key, database: stand.database, startService: stand.startService },
    drive: (input, server) => stand.drive(input, server, "prepared"),
  });
  for await (const line of lines) print(line);
}
