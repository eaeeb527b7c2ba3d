// Fills a database with traces of 100 agents in 90 days, by COPY.
import pg from "pg";
import { makeAccessToken } from "../src/model/access-token.ts";
import { hashKey, makeKey } from "../src/model/key.ts";
import { insertAccessToken } from "../src/store/accounts/access-tokens.ts";
import { insertKey } from "../src/store/accounts/keys.ts";
import { copyIn } from "../src/store/backup/copy.ts";
import { type Database, openDatabase } from "../src/store/db.ts";
import { idAt } from "../src/store/listing.ts";
import { migrate } from "../src/store/migrate.ts";
import { storageOfRange } from "../src/store/ranges/catalog.ts";
import { joinRanges } from "../src/store/ranges/join.ts";
import { makeTestCase, otlpWrite, type Sender } from "../test/store/traces/make-write.ts";
import { makeAccount, makeAgentRow, makeProject } from "../test/support/rows.ts";

export const agentCount = 100;
const days = 90;
export const dayMs = 86_400_000;
/** The newest traces, to which batches come. */
const recent = 1_000;

/** How many traces a database has, in how many ranges of batches; 0: in an undivided table. */
export type Variant = { traces: number; ranges: number };

/** `serviceName` routes OTLP to the agent. All agents are in one project. */
export type NamedSender = Sender & { serviceName: string };

export type Filled = {
  url: string;
  db: Database;
  senders: NamedSender[];
  /** Plain, of the project and of its owner. */
  apiKey: string;
  accessToken: string;
  /** The trace with this number, from 0, and its agent. */
  trace(number: number): { id: string; sender: NamedSender; externalId: string };
  traces: number;
};

export async function fill(admin: pg.Client, url: string, { traces, ranges }: Variant): Promise<Filled> {
  const name = `growth_${traces}_${ranges}`;
  const target = new URL(url);
  await admin.query(`create database ${name} owner ${target.username}`);
  target.pathname = `/${name}`;
  await migrate(target.href);
  await divide(target.href, ranges);
  const db = openDatabase(target.href, 1);
  const { senders, apiKey, accessToken } = await makeSenders(db);
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
  // Otherwise each page that is read would first have one written that loading left.
  await admin.query("checkpoint");
  await client.end();
  return { url: target.href, db, senders, apiKey, accessToken, trace, traces };
}

export function newTrace(into: Filled) {
  return into.trace(into.traces - 1 - Math.floor(Math.random() * recent));
}

export function anyTrace(into: Filled) {
  // The first one's ID is all zeros, which OTLP refuses.
  return into.trace(1 + Math.floor(Math.random() * (into.traces - 1)));
}

async function makeSenders(db: Database): Promise<Pick<Filled, "senders" | "apiKey" | "accessToken">> {
  const accountId = await makeAccount(db, { verified: true });
  const projectId = await makeProject(db, accountId);
  const [apiKey, accessToken] = [makeKey(), makeAccessToken()];
  const common = { name: "bench", expiresAt: null };
  const key = { projectId, access: "full" as const, agentIds: [], createdBy: null };
  const { id: keyId } = await insertKey(db, {
    ...{ ...common, ...key, hash: hashKey(apiKey), lastFour: apiKey.slice(-4) },
  });
  await insertAccessToken(db, {
    ...{ ...common, accountId, scope: "runs" as const },
    ...{ hash: hashKey(accessToken), lastFour: accessToken.slice(-4) },
  });
  const senders: NamedSender[] = [];
  for (let at = 0; at < agentCount; at++) {
    const serviceName = `agent-${at}`;
    const agentId = await makeAgentRow(db, { projectId, otlpServiceName: serviceName });
    await makeTestCase(db, agentId);
    senders.push({ projectId, agentId, keyId, serviceName });
  }
  return { senders, apiKey, accessToken };
}

/** As many ranges, the last of which is of today and the next days. */
async function divide(url: string, ranges: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  if (ranges === 0) await joinRanges(client);
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
