// npm run bench -- growth: what costs more when ten million traces are stored than when ten thousand are, or in more ranges.
// The databases are loaded by COPY and measured in turns, so that changes in the machine's speed affect all. Linux only.
import { readFileSync } from "node:fs";
import pg from "pg";
import { copyIn } from "../src/store/backup/copy.ts";
import { type Database, openDatabase } from "../src/store/db.ts";
import { idAt, newest } from "../src/store/listing.ts";
import { migrate } from "../src/store/migrate.ts";
import { newId } from "../src/store/new-id.ts";
import { storageOfRange } from "../src/store/ranges/catalog.ts";
import { claimRuns } from "../src/store/runs/claims.ts";
import { listRunsOfTrace } from "../src/store/runs/read.ts";
import { loadBatches } from "../src/store/traces/batches.ts";
import { insertTraces } from "../src/store/traces/insert.ts";
import { listTraces } from "../src/store/traces/list.ts";
import { findTrace } from "../src/store/traces/read.ts";
import { expireTraces } from "../src/store/traces/retention.ts";
import { updateTraces } from "../src/store/traces/update.ts";
import { limits, makeSender, otlpWrite, type Sender } from "../test/store/traces/make-write.ts";
import { median } from "./figures.ts";

const agentCount = 100;
const days = 90;
const dayMs = 86_400_000;
/** Traces in a flush, a merge and a deletion. */
const atOnce = { insert: 64, merge: 16, claim: 16, expire: 16 };
/** The newest traces, to which batches come. */
const recent = 1_000;

type Filled = {
  db: Database;
  senders: Sender[];
  /** The trace with this number, from 0, and its agent. */
  trace(number: number): { id: string; sender: Sender; externalId: string };
  traces: number;
};

/** How many traces a database has, in how many ranges of batches; 0: in an undivided table. */
export type Variant = { traces: number; ranges: number };

/** `admin` creates a database for each variant. What each takes is compared with the first one. */
export async function growthTimes(
  admin: pg.Client,
  url: string,
  { variants, rounds, print }: { variants: Variant[]; rounds: number; print: (line: string) => void },
): Promise<void> {
  const filled: Filled[] = [];
  for (const variant of variants) {
    const begun = performance.now();
    filled.push(await fill(admin, url, variant));
    print(`${nameOf(variant)} loaded in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  }
  const names = variants.map(nameOf);
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
    const writes = mergesInto(() => into.trace(into.traces - 1 - Math.floor(Math.random() * recent)));
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

function anyTrace(into: Filled) {
  return into.trace(Math.floor(Math.random() * into.traces));
}

async function fill(admin: pg.Client, url: string, { traces, ranges }: Variant): Promise<Filled> {
  const name = `growth_${traces}_${ranges}`;
  await admin.query(`create database ${name}`);
  const target = new URL(url);
  target.pathname = `/${name}`;
  await migrate(target.href);
  await divide(target.href, ranges);
  const db = openDatabase(target.href, 1);
  const senders: Sender[] = [];
  for (let at = 0; at < agentCount; at++) senders.push(await makeSender(db));
  const [from, step] = [Date.now() - days * dayMs, (days * dayMs) / traces];
  const trace = (number: number) => {
    const tail = number.toString(16).padStart(12, "0");
    return {
      id: `${idAt(from + number * step).slice(0, 14)}7000-8000-${tail}`,
      sender: senders[number % agentCount]!,
      externalId: tail.padStart(32, "0"),
    };
  };
  const client = new pg.Client({ connectionString: target.href });
  await client.connect();
  const { spanKeys, bytes, rawLength } = otlpWrite(senders[0]!, { spans: ["a"], text: "Where is my order?" });
  const [keys, spans] = [spanKeys, bytes].map(part => `\\\\x${part.toString("hex")}`);
  const at = (number: number) => new Date(from + number * step).toISOString();
  const tables: [string, (number: number) => unknown[]][] = [
    [
      `traces (id, agent_id, external_id, kind, path, received_at, updated_at, batch_spans, batch_bytes, derived_revision,
        name, duration_ms, http_status, input_tokens, output_tokens, failed, span_count, user_input, response_text, tools,
        models)`,
      number => {
        const { id, sender, externalId } = trace(number);
        return [
          ...[id, sender.agentId, externalId, "live", "otlp", at(number), at(number), 1, rawLength, 1],
          ...["invoke_agent", 20 + (number % 900), 200, number % 900, number % 300, "f", 1],
          ...["Where is my order, please?", "It arrives tomorrow.", "{find_order}", "{large}"],
        ];
      },
    ],
    [
      "trace_identities (agent_id, trace_id, external_id)",
      number => {
        const { id, sender, externalId } = trace(number);
        return [sender.agentId, id, externalId];
      },
    ],
    [
      "trace_batches (agent_id, trace_id, seq, raw_length, span_keys, spans)",
      number => {
        const { id, sender } = trace(number);
        return [sender.agentId, id, 1, rawLength, keys, spans];
      },
    ],
    [
      `runs (id, trace_id, agent_id, kind, state, due_at, created_at, finished_at, revision, routing, verdict, passed, failed,
        skipped, missing_instrumentation, test_ids, test_outcomes, test_versions)`,
      number => {
        const { id, sender } = trace(number);
        return [
          ...[
            id.replace("-7000-", "-7001-"),
            id,
            sender.agentId,
            "passive",
            "completed",
            at(number),
            at(number),
          ],
          ...[at(number), 1, "not_needed", "passed", 1, 0, 0, 0, "{}", "", "{}"],
        ];
      },
    ],
  ];
  for (const [table, values] of tables)
    await copyIn(client, `copy ${table} from stdin`, linesOf(traces, values));
  await client.query(
    `insert into trace_values (agent_id, kind, value, minute)
     select distinct agent_id, called.kind, called.value, minute_of(id)
     from traces, lateral (values ('tool', 'find_order'), ('model', 'large')) called (kind, value)`,
  );
  await client.query("vacuum analyze");
  await client.end();
  return { db, senders, trace, traces };
}

/** Returns what reads how much CPU time the one session of the pool used, in µs. */
async function meter({ db }: Filled): Promise<() => number> {
  const { rows } = await db.pool.query<{ pid: number }>("select pg_backend_pid() as pid");
  const path = `/proc/${rows[0]!.pid}/schedstat`;
  return () => Number(readFileSync(path, "latin1").split(" ")[0]) / 1000;
}

/** As many ranges, the last of which is of today and the next days. */
async function divide(url: string, ranges: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  if (ranges === 0) await client.query("select join_batches()");
  else await client.query("drop table trace_batches_first");
  let from = "minvalue";
  for (let at = 1; at <= ranges; at++) {
    const daysAgo = at === ranges ? -4 : days - (days / ranges) * at;
    const to = `'${idAt(Date.now() - daysAgo * dayMs)}'`;
    await client.query(
      `create table batches_${at} partition of trace_batches for values from (${from}) to (${to}) ${storageOfRange}`,
    );
    from = to;
  }
  await client.end();
}

const linesInBuffer = 2_000;

async function* linesOf(count: number, values: (number: number) => unknown[]): AsyncGenerator<Buffer> {
  for (let from = 0; from < count; from += linesInBuffer) {
    const length = Math.min(linesInBuffer, count - from);
    yield Buffer.from(Array.from({ length }, (_, at) => `${values(from + at).join("\t")}\n`).join(""));
  }
}

function row(name: string, cells: string[]): string {
  return name.padEnd(34) + cells.map(cell => cell.padStart(16)).join("");
}
