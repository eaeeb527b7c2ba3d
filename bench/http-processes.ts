// What several HTTP processes cost on one machine: CPU per trace, memory, and what PostgreSQL waits for, in turns.
import type pg from "pg";
import type { DriverInput, DriverOutput } from "./driver.ts";
import { median } from "./figures.ts";
import { type Child, memoryMbOfTree } from "./processes.ts";

const counts = [1, 2, 3];
const sampleMs = 5;
/** For each process to have compiled its code; fewer cost up to four times as much a trace. */
const warmUpTraces = 5_000;

type Turn = DriverOutput & { service: number; postgres: number };

type Side = { count: number; costs: Turn[]; waits: Map<string, number>; service: Child; url: string };

export type HttpProcessesOptions = {
  rounds: number;
  tracesPerTurn: number;
  key: string;
  database: pg.Client;
  startService: (env: Record<string, string>) => Promise<{ service: Child; url: string }>;
  drive: (input: DriverInput, server: Child) => Promise<Turn>;
};

/** Yields the lines of the result. The project's agent has the service name "bench". */
export async function* httpProcessesCost(options: HttpProcessesOptions): AsyncGenerator<string> {
  const { rounds, tracesPerTurn, key, database } = options;
  const sides: Side[] = [];
  for (const count of counts) {
    const env = { SVC_ROLES: "http", SVC_HTTP_PROCESSES: String(count) };
    sides.push({ count, costs: [], waits: new Map(), ...(await options.startService(env)) });
  }
  yield "HTTP processes: CPU µs a trace, 12 spans, 27 KB, protobuf, 32 connections, prepared bodies";
  const send = async ({ service, url }: Side, traces: number): Promise<Turn> => {
    const to = { key, format: "protobuf", serviceName: "bench", url: `${url}/public/traces` } as const;
    return options.drive({ ...to, connections: 32, traces, seconds: 0, warmUpSeconds: 0 }, service);
  };
  for (const side of sides) await send(side, side.count * warmUpTraces);
  // Who comes first alternates.
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      await database.query("checkpoint");
      const stopSampling = sampleWaits(database, side.waits);
      side.costs.push(await send(side, tracesPerTurn));
      await stopSampling();
    }
  }
  for (const { count, costs, waits, service } of sides) {
    const each = (value: (turn: Turn) => number) =>
      median(costs.map(turn => (value(turn) / turn.traces) * 1e6)).toFixed(0);
    const p99 = median(costs.map(({ p99Ms }) => p99Ms)).toFixed(0);
    yield `${count}: service ${each(turn => turn.service)}, PostgreSQL ${each(turn => turn.postgres)}; p99 ${p99} ms; ${memoryMbOfTree(service.pid).toFixed(0)} MB; ${inWords(waits)}`;
  }
  const one = sides[0]!;
  for (const { count, costs, waits } of sides.slice(1)) {
    const parts = [
      ["service", ({ service, traces }: Turn) => service / traces],
      ["PostgreSQL", ({ postgres, traces }: Turn) => postgres / traces],
      ["both", ({ service, postgres, traces }: Turn) => (service + postgres) / traces],
    ] as const;
    const texts = parts.map(([name, of]) => {
      const ratios = costs.map((turn, at) => of(turn) / of(one.costs[at]!));
      const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map(ratio => ratio.toFixed(2));
      return `${name} ${median(ratios).toFixed(2)} (${least} to ${most})`;
    });
    yield `ratio of ${count} to 1: ${texts.join(", ")}; lock waits a trace ${(lockWaits(waits, costs) / lockWaits(one.waits, one.costs)).toFixed(1)}`;
  }
  for (const { service } of sides) await service.stop();
}

/** Counts what busy connections wait for, until the function that it returns is called. */
function sampleWaits(database: pg.Client, waits: Map<string, number>): () => Promise<void> {
  let isStopping = false;
  const sampling = (async () => {
    while (!isStopping) {
      const { rows } = await database.query<{ event: string; count: number }>(
        `select coalesce(wait_event_type || ' ' || wait_event, 'running') as event, count(*)::int as count
           from pg_stat_activity
          where state = 'active' and backend_type = 'client backend' and pid <> pg_backend_pid() group by 1`,
      );
      for (const { event, count } of rows) waits.set(event, (waits.get(event) ?? 0) + count);
      await new Promise(resolve => setTimeout(resolve, sampleMs));
    }
  })();
  return async () => {
    isStopping = true;
    await sampling;
  };
}

function inWords(waits: Map<string, number>): string {
  const all = [...waits.values()].reduce((sum, count) => sum + count, 0);
  const parts = [...waits].sort((a, b) => b[1] - a[1]).slice(0, 6);
  return `${all} samples of busy connections: ${parts.map(([event, count]) => `${event} ${((count / all) * 100).toFixed(1)}%`).join(", ")}`;
}

/** Samples of connections that waited for a lock, of a row, a table or in memory, for each trace. */
function lockWaits(waits: Map<string, number>, costs: Turn[]): number {
  const found = [...waits].filter(([event]) => /^(Lock|LWLock) /.test(event));
  const samples = found.reduce((sum, [, count]) => sum + count, 0);
  return samples / costs.reduce((sum, { traces }) => sum + traces, 0);
}
