// npm run bench -- growth: what costs more when ten million traces are stored than when ten thousand are, or in more ranges.
// The databases are loaded by COPY and measured in turns, so that changes in the machine's speed affect all. Linux only.
import { readFileSync } from "node:fs";
import { newest } from "../src/store/listing.ts";
import { newId } from "../src/store/new-id.ts";
import { claimRuns } from "../src/store/runs/claims.ts";
import { listRunsOfTrace } from "../src/store/runs/read.ts";
import { loadBatches } from "../src/store/traces/batches.ts";
import { insertTraces } from "../src/store/traces/insert.ts";
import { listTraces } from "../src/store/traces/list.ts";
import { findTrace } from "../src/store/traces/read.ts";
import { expireTraces } from "../src/store/traces/retention.ts";
import { updateTraces } from "../src/store/traces/update.ts";
import { limits, otlpWrite } from "../test/store/traces/make-write.ts";
import { median } from "./figures.ts";
import { agentCount, anyTrace, dayMs, type Filled, fill, newTrace, type Variant } from "./growth-fill.ts";
import { requestTimes } from "./growth-requests.ts";
import type { Stand } from "./stand.ts";

/** Traces in a flush, a merge and a deletion. */
const atOnce = { insert: 64, merge: 16, claim: 16, expire: 16 };

/** In a database for each variant. What each takes is compared with the first one. */
export async function growthTimes(
  { database: admin, databaseUrl: url, startService }: Stand,
  { variants, rounds, print }: { variants: Variant[]; rounds: number; print: (line: string) => void },
): Promise<void> {
  const filled: Filled[] = [];
  for (const variant of variants) {
    const begun = performance.now();
    filled.push(await fill(admin, url, variant));
    print(`${nameOf(variant)} loaded in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  }
  const names = variants.map(nameOf);
  // Before some traces are deleted.
  print(row("requests, medians: ms", [...names, "  to the first"]));
  for await (const [name, ms] of requestTimes(filled, { rounds: 5 * rounds, startService })) {
    const ratios = ms.map(one => (one / ms[0]!).toFixed(2)).join(" ");
    print(row(name, [...ms.map(one => one.toFixed(2)), `  ${ratios}`]));
  }
  const meters = await Promise.all(filled.map(meter));
  print(row("medians: ms, µs of CPU", [...names, ...names, "  CPU to the first"]));
  for (const [name, work] of Object.entries(works)) {
    const times = variants.map(() => ({ ms: [] as number[], cpu: [] as number[] }));
    for (let round = -3; round < rounds; round++) {
      for (const [at, into] of filled.entries()) {
        const run = await work(into, round + 3);
        const cpu = meters[at]!();
        const begun = performance.now();
        await run();
        // The first rounds make plans and read what is cached afterwards.
        if (round < 0) continue;
        times[at]!.ms.push(performance.now() - begun);
        times[at]!.cpu.push(meters[at]!() - cpu);
      }
    }
    const cpu = times.map(one => median(one.cpu));
    print(
      row(name, [
        ...times.map(one => median(one.ms).toFixed(2)),
        ...cpu.map(us => us.toFixed(0)),
        `  ${cpu.map(us => (us / cpu[0]!).toFixed(2)).join(" ")}`,
      ]),
    );
  }
  for (const { db } of filled) await db.close();
}

const nameOf = ({ traces, ranges }: Variant) => `${traces} in ${ranges}`;

/** Each prepares a round, and returns what is measured of it. */
const works: Record<string, (into: Filled, round: number) => Promise<() => Promise<unknown>>> = {
  async "insert, 64 traces"({ db, senders }) {
    const writes = Array.from({ length: atOnce.insert }, (_, at) => otlpWrite(senders[at % 8]!));
    return () => insertTraces(db, writes, 0);
  },
  async "merge into 16 new traces"(into) {
    const writes = mergesInto(() => newTrace(into));
    return () => updateTraces(into.db, writes, limits);
  },
  async "merge into 16 of any age"(into) {
    const writes = mergesInto(() => anyTrace(into));
    return () => updateTraces(into.db, writes, limits);
  },
  async "page of 50"({ db, senders }, round) {
    const { agentId } = senders[round % agentCount]!;
    return () => listTraces(db, agentId, {}, { before: newest, rowsMax: 51 });
  },
  async "one by its external ID"(into) {
    const { sender, externalId } = anyTrace(into);
    return () => listTraces(into.db, sender.agentId, { externalId }, { before: newest, rowsMax: 51 });
  },
  async "detail of a trace"(into) {
    const { id } = anyTrace(into);
    return async () => {
      await findTrace(into.db, id);
      await loadBatches(into.db, [id]);
      await listRunsOfTrace(into.db, id);
    };
  },
  async "claim 16 runs"({ db }) {
    return () => claimRuns(db, { lease: newId(), leaseMs: dayMs, runsMax: atOnce.claim });
  },
  async "delete 16 whose time is over"({ db, senders }, round) {
    const { agentId } = senders[round % agentCount]!;
    return () => expireTraces(db, agentId, { serverDays: 1, tracesMax: atOnce.expire });
  },
  async "delete 16, batches left to a drop"({ db, senders }, round) {
    const { agentId } = senders[round % agentCount]!;
    await db.pool.query("insert into range_drops (below) values ($1) on conflict do nothing", [newest]);
    return () => expireTraces(db, agentId, { serverDays: 1, tracesMax: atOnce.expire });
  },
};

function mergesInto(pick: () => ReturnType<Filled["trace"]>) {
  return Array.from({ length: atOnce.merge }, () => {
    const { sender, externalId } = pick();
    return otlpWrite(sender, { externalId, spans: ["c"] });
  });
}

/** Returns what reads how much CPU time the one session of the pool used, in µs. */
async function meter({ db }: Filled): Promise<() => number> {
  const { rows } = await db.pool.query<{ pid: number }>("select pg_backend_pid() as pid");
  const path = `/proc/${rows[0]!.pid}/schedstat`;
  return () => Number(readFileSync(path, "latin1").split(" ")[0]) / 1000;
}

function row(name: string, cells: string[]): string {
  return name.padEnd(34) + cells.map(cell => cell.padStart(16)).join("");
}
