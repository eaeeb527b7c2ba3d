// What costs more when ten million traces are stored than when ten thousand are, or in more ranges: requests, and statements of
// the store. The databases are loaded by COPY and measured in turns, so that changes in the machine's speed affect all. Linux only.
import { readFileSync } from "node:fs";
import { newest } from "../src/store/listing.ts";
import { newId } from "../src/store/new-id.ts";
import { claimRuns } from "../src/store/runs/claims.ts";
import { listRunsOfTrace } from "../src/store/runs/read.ts";
import { listTraces } from "../src/store/trace-lists/list.ts";
import { loadBatches } from "../src/store/traces/batches.ts";
import { insertTraces } from "../src/store/traces/insert.ts";
import { findTrace } from "../src/store/traces/read.ts";
import { expireTraces } from "../src/store/traces/retention.ts";
import { updateTraces } from "../src/store/traces/update.ts";
import { limits, otlpWrite } from "../test/store/traces/make-write.ts";
import type { Figures, Given, Parts } from "./benchmark.ts";
import { median } from "./figures.ts";
import { agentCount, anyTrace, dayMs, type Filled, fill, newTrace, type Variant } from "./growth-fill.ts";
import { openRequests } from "./growth-requests.ts";
import { openStand } from "./stand.ts";

const rounds = 15;

/** Traces in a flush, a merge and a deletion. */
const atOnce = { insert: 64, merge: 16, claim: 16, expire: 16 };

/** With `--ranges 0,1,9`: databases of the same size, whose batches are in so many ranges. `--traces`: how many there are. */
export async function open(given: Given): Promise<Parts> {
  const option = (name: string) => given.args[given.args.indexOf(name) + 1 || Infinity];
  const large = Number(option("--traces") ?? (given.isCompared ? 100_000 : 10_000_000));
  const variants: Variant[] =
    option("--ranges")
      ?.split(",")
      .map(ranges => ({ traces: large, ranges: Number(ranges) })) ??
    [10_000, large].map(traces => ({ traces, ranges: 9 }));
  const stand = await openStand(given);
  const filled: Filled[] = [];
  for (const variant of variants) {
    const begun = performance.now();
    const into = await fill(stand.database, stand.databaseUrl, variant);
    given.onClose(() => into.db.close());
    filled.push(into);
    console.log(`${nameOf(variant)} loaded in ${((performance.now() - begun) / 1_000).toFixed(0)} s`);
  }
  const names = variants.map(nameOf);
  const requests = await openRequests(filled, stand);
  const told = (what: string, unit: string, values: number[]): Figures =>
    Object.fromEntries(
      values.flatMap((value, at) => [
        [`${what}, ${names[at]}: ${unit}`, value],
        ...(at > 0 ? [[`${what}, ${names[at]} to ${names[0]}`, value / values[0]!]] : []),
      ]),
    );
  const statements = Object.entries(works).map(([what, work]) => async () => {
    const meters = await Promise.all(filled.map(meter));
    const cpu = filled.map((): number[] => []);
    for (let round = -3; round < rounds; round++) {
      for (const [at, into] of filled.entries()) {
        const run = await work(into, round + 3);
        const begun = meters[at]!();
        await run();
        // The first rounds make plans and read what is cached afterwards.
        if (round >= 0) cpu[at]!.push(meters[at]!() - begun);
      }
    }
    return told(what, "µs of CPU", cpu.map(median));
  });
  // Before some traces are deleted.
  return [
    ...requests.map(
      ({ what, times }) =>
        async () =>
          told(what, "ms", await times()),
    ),
    ...statements,
  ];
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
