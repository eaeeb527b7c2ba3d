// Compares what ingestion costs with what it cost at another commit: both services run beside one PostgreSQL, each with a
// database of its own, and take turns.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { DriverInput } from "./driver.ts";
import { median } from "./figures.ts";
import type { Child } from "./processes.ts";
import type { makeProject } from "./project.ts";
import type { Format } from "./traces.ts";

const root = join(import.meta.dirname, "..");

/** CPU µs a trace. */
type Cost = { service: number; postgres: number; p99Ms: number };

export type AgainstOptions = {
  /** Anything that git can resolve. */
  commit: string;
  rounds: number;
  tracesPerTurn: number;
  /** A database of its own for the other commit. */
  newDatabase: (name: string) => Promise<string>;
  startService: (of: { root: string; databaseUrl: string }) => Promise<{ service: Child; url: string }>;
  drive: (
    input: DriverInput,
    server: Child,
  ) => Promise<{ traces: number; service: number; postgres: number; p99Ms: number }>;
  betweenTurns: () => Promise<unknown>;
};

/** Yields the lines of the result. Throws if git does not know the commit, or its packages cannot be installed. */
export async function* against(options: AgainstOptions): AsyncGenerator<string> {
  const { commit, rounds, tracesPerTurn } = options;
  const worktree = checkOut(commit);
  try {
    const sides = [];
    for (const [name, folder] of [
      ["before", worktree],
      ["now", root],
    ] as const) {
      const databaseUrl = await options.newDatabase(`bench_${name}`);
      // Each commit's own, since the tables differ.
      const { makeProject: make } = (await import(pathToFileURL(join(folder, "bench/project.ts")).href)) as {
        makeProject: typeof makeProject;
      };
      const { apiKey } = await make(databaseUrl, { serviceName: "bench", tests: 0 });
      sides.push({ name, apiKey, ...(await options.startService({ root: folder, databaseUrl })) });
    }
    yield `Ingestion against ${commit}: CPU µs a trace, 12 spans, 27 KB, 32 connections, prepared bodies`;
    for (const format of ["json", "protobuf"] as Format[]) {
      const costs = new Map(sides.map(({ name }) => [name, [] as Cost[]]));
      // The first is the warm-up. Who comes first alternates.
      for (let round = 0; round <= rounds; round++) {
        for (const { name, apiKey, service, url } of round % 2 === 0 ? sides : sides.toReversed()) {
          await options.betweenTurns();
          const input = {
            key: apiKey,
            format,
            serviceName: "bench",
            connections: 32,
            seconds: 0,
            warmUpSeconds: 0,
          };
          const turn = await options.drive(
            { ...input, url: `${url}/public/traces`, traces: tracesPerTurn },
            service,
          );
          const each = (seconds: number) => (seconds / turn.traces) * 1e6;
          if (round > 0)
            costs
              .get(name)!
              .push({ service: each(turn.service), postgres: each(turn.postgres), p99Ms: turn.p99Ms });
        }
      }
      const [before, now] = [costs.get("before")!, costs.get("now")!];
      for (const [name, list] of costs) yield line(`${name}, ${format}`, list);
      const ratios = now.map((cost, at) => total(cost) / total(before[at]!));
      yield `ratio, ${format}: ${ratios.map(ratio => ratio.toFixed(2)).join(" ")}, median ${median(ratios).toFixed(2)}`;
    }
    for (const { service } of sides) await service.stop();
  } finally {
    spawnSync("git", ["worktree", "remove", "--force", worktree], { cwd: root });
    rmSync(worktree, { recursive: true, force: true });
  }
}

/** A checkout of the commit with its packages: those of this checkout where the lockfiles are the same. */
function checkOut(commit: string): string {
  const folder = join(mkdtempSync(join(tmpdir(), "onlooker-against-")), "onlooker");
  run("git", ["worktree", "add", "--detach", folder, commit], root);
  const isSame =
    spawnSync("git", ["diff", "--quiet", commit, "--", "package-lock.json"], { cwd: root }).status === 0;
  if (isSame) symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  else run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder);
  return folder;
}

function run(program: string, args: string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr}`);
}

function line(name: string, costs: Cost[]): string {
  const of = (value: (cost: Cost) => number) => median(costs.map(value)).toFixed(0);
  return `${name.padEnd(18)} service ${of(cost => cost.service)}, PostgreSQL ${of(cost => cost.postgres)}, together ${of(total)}; p99 ${of(cost => cost.p99Ms)} ms`;
}

function total({ service, postgres }: Cost): number {
  return service + postgres;
}
