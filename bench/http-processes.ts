// What several HTTP processes cost on one machine: CPU per trace, memory, and what PostgreSQL waits for, in turns.
import type pg from "pg";
import { openAccount } from "./account.ts";
import type { Figures, Given, Parts } from "./benchmark.ts";
import { memoryMbOfTree } from "./processes.ts";
import { costOf, openStand, type Started } from "./stand.ts";

const counts = [1, 2, 3];
const sampleMs = 5;
/** For each process to have compiled its code; fewer cost up to four times as much a trace. Less where turns are short. */
const warmUpTraces = 5_000;

export async function open(given: Given): Promise<Parts> {
  const stand = await openStand(given);
  const sides: (Started & { count: number })[] = [];
  for (const count of counts) {
    sides.push({ count, ...(await stand.startService({ SVC_HTTP_PROCESSES: String(count) })) });
  }
  const account = await openAccount(stand.databaseUrl, sides[0]!.url);
  const { apiKey: key } = await account.project({ serviceName: "bench" });
  const send = ({ service, url }: Started, traces: number) => {
    const to = { key, format: "protobuf", serviceName: "bench", url: `${url}/public/traces` } as const;
    return stand.drive({ ...to, connections: 32, traces, seconds: 0, warmUpSeconds: 0 }, service);
  };
  for (const side of sides) await send(side, side.count * Math.min(warmUpTraces, given.seconds * 2_500));
  const measure = async () => {
    const figures: Figures = {};
    const first = { cost: 0, waits: 0 };
    for (const side of sides) {
      const locks = countLockWaits(stand.database);
      const driven = await send(side, Math.round(given.seconds * 1_000));
      const waits = (await locks()) / driven.traces;
      const cost = costOf(driven);
      const name = side.count === 1 ? "1 process" : `${side.count} processes`;
      figures[`${name}: service µs a trace`] = (driven.service / driven.traces) * 1e6;
      figures[`${name}: PostgreSQL µs a trace`] = (driven.postgres / driven.traces) * 1e6;
      figures[`${name}: p99 ms`] = driven.p99Ms;
      figures[`${name}: MB`] = memoryMbOfTree(side.service.pid);
      if (side.count === 1) Object.assign(first, { cost, waits });
      else {
        figures[`${name}: CPU to 1`] = cost / first.cost;
        figures[`${name}: lock waits to 1`] = waits / first.waits;
      }
    }
    return figures;
  };
  return [measure];
}

/**
 * Samples what busy connections wait for until the function that it returns is called: how often for a lock, of a row, a
 * table or in memory.
 */
function countLockWaits(database: pg.Client): () => Promise<number> {
  let isStopping = false;
  const sampling = (async () => {
    let waits = 0;
    while (!isStopping) {
      const { rows } = await database.query<{ count: number }>(
        `select count(*)::int from pg_stat_activity where state = 'active' and backend_type = 'client backend'
           and pid <> pg_backend_pid() and wait_event_type in ('Lock', 'LWLock')`,
      );
      waits += rows[0]!.count;
      await new Promise(resolve => setTimeout(resolve, sampleMs));
    }
    return waits;
  })();
  return () => {
    isStopping = true;
    return sampling;
  };
}
