// The PostgreSQL, services and drivers of a benchmark, and the CPU time that they take.
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { openEmbedded } from "../src/embedded/database.ts";
import type { Given } from "./benchmark.ts";
import type { DriverInput, DriverOutput } from "./driver.ts";
import { type Child, cpuSecondsOfTree, start } from "./processes.ts";

/** CPU seconds of the service, PostgreSQL and the driver. */
export type Driven = DriverOutput & { service: number; postgres: number; driver: number };

export type Started = { service: Child; url: string };

export type Stand = {
  /** Empty but for the database's files. */
  dataDir: string;
  databaseUrl: string;
  database: pg.Client;
  /** Starts another program of this folder, which ends with the stand. */
  startProgram(script: string, args: string[]): Child;
  /** One HTTP process, unless `env` says otherwise, with the flags of its launcher and others. */
  startService(env?: Record<string, string>, flags?: string[]): Promise<Started>;
  /** `driver`: "exporter" is OpenTelemetry's own; "prepared", the default, takes less CPU. Throws if a request fails. */
  drive(input: DriverInput, server: Child, driver?: "exporter" | "prepared"): Promise<Driven>;
  /** CPU seconds of PostgreSQL so far. */
  postgresSeconds(): number;
};

/** Closed with the benchmark. */
export async function openStand({ onClose }: Given): Promise<Stand> {
  const dataDir = await mkdtemp(join(process.env["BENCH_DIR"] ?? "/var/tmp", "onlooker-bench-"));
  // If this process is root, PostgreSQL runs as another user, which must be able to enter the folder.
  await chmod(dataDir, 0o711);
  const embedded = await openEmbedded({ dataDir, log: quietLog() });
  const database = new pg.Client({ connectionString: superuserUrl(embedded.url, dataDir) });
  await database.connect();
  await createWalFiles(database);
  const pidFile = join(dataDir, "postgresql", "data", "postmaster.pid");
  const postmaster = Number((await readFile(pidFile, "utf8")).split("\n")[0]);
  const children: Child[] = [];

  const startProgram = (script: string, args: string[]): Child => {
    const child = start(script, args);
    children.push(child);
    return child;
  };

  const startService: Stand["startService"] = async (env = {}, flags = []) => {
    const own = { DATABASE_URL: embedded.url, PORT: "0", SVC_HTTP_PROCESSES: "1", SVC_ROLES: "http" };
    const service = start("../src/main.ts", [], { ...own, ...env }, [...(await heapFlags()), ...flags]);
    children.push(service);
    for (;;) {
      const { url } = JSON.parse(await service.nextLine()) as { url?: string };
      if (url) return { service, url };
    }
  };

  const drive: Stand["drive"] = async (input, server, driver = "prepared") => {
    await database.query("checkpoint");
    const before = { service: cpuSecondsOfTree(server.pid), postgres: cpuSecondsOfTree(postmaster) };
    const script = driver === "exporter" ? "./driver.ts" : "./prepared-driver.ts";
    const process = start(script, [JSON.stringify(input)]);
    const output = JSON.parse(await process.nextLine()) as DriverOutput;
    const figures = {
      ...output,
      service: cpuSecondsOfTree(server.pid) - before.service,
      postgres: cpuSecondsOfTree(postmaster) - before.postgres,
      driver: output.cpuSeconds,
    };
    await process.stop();
    if (output.failed > 0) throw new Error(`${output.failed} requests failed`);
    return figures;
  };

  onClose(async () => {
    await Promise.all(children.map(child => child.stop()));
    await database.end();
    await embedded.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  return {
    ...{ dataDir, databaseUrl: embedded.url, database, startProgram, startService, drive },
    postgresSeconds: () => cpuSecondsOfTree(postmaster),
  };
}

/** CPU of the service and PostgreSQL for each trace, in µs. */
export function costOf({ service, postgres, traces }: Driven): number {
  return ((service + postgres) / traces) * 1e6;
}

/**
 * A database in use has WAL files to recycle. Creating one blocks commits for 40 to 150 ms, so a new one would show that as its
 * latency.
 */
async function createWalFiles(database: pg.Client): Promise<void> {
  await database.query(`do $$ begin
    for file in 1..64 loop
      perform pg_logical_emit_message(false, 'bench', '');
      perform pg_switch_wal();
    end loop;
  end $$`);
  await database.query("checkpoint");
}

/** In the service's database. Commits before the service had a role of its own have no such file: theirs is a superuser. */
function superuserUrl(databaseUrl: string, dataDir: string): string {
  const file = join(dataDir, "postgresql", "superuser-password");
  if (!existsSync(file)) return databaseUrl;
  const url = new URL(databaseUrl);
  return Object.assign(url, { username: "postgres", password: readFileSync(file, "utf8").trim() }).href;
}

async function heapFlags(): Promise<string[]> {
  const module = join(import.meta.dirname, "../scripts/launch/heap.mjs");
  return existsSync(module) ? (await import(module)).heapFlags(process.execPath) : [];
}

function quietLog() {
  return {
    info: () => {},
    warn: (_: unknown, message = "") => console.warn(message),
    error: console.error,
  };
}

/** Whether runs that have not ended have a table of their own: not in earlier commits, with which this one is compared. */
export async function hasQueue(database: pg.Client): Promise<boolean> {
  const { rows } = await database.query<{ has: boolean }>("select to_regclass('queue') is not null as has");
  return rows[0]!.has;
}
