// Compares what is stored after the faults with what the clients were told.
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { attemptsMax } from "../src/store/runs/claims.ts";
import { decodeDetail } from "../src/store/runs/detail.ts";
import { keysIn } from "../src/store/traces/span-keys.ts";
import type { Delivery, Identity, Ledger } from "./ledger.ts";

export type CheckInput = {
  ledger: Ledger;
  databaseUrl: string;
  /** The stored trace, through the API of each node. */
  readTraces: ((id: string) => Promise<StoredTrace>)[];
  agentId: string;
  /** Tests that apply to every trace, and those that must never be applied. */
  tests: { eligible: string[]; ineligible: string[] };
};

export type StoredTrace = { spans: { span_id: string; attributes: Record<string, unknown> }[] };

export type CheckReport = {
  traces: number;
  spans: number;
  runs: number;
  /** Traces with a run that ended because its process was killed too often. */
  killed: number;
  drainedMs: number;
  findings: string[];
};

const drainMsMax = 180_000;
const readersOfNode = 2;

type TraceRow = { id: string; external_id: string; path: "canonical" | "otlp"; revision: number };
type FailedRow = { id: string; trace_id: string; attempts: number; error: string };
type RunRow = {
  id: string;
  trace_id: string;
  revision: number;
  cause: string;
  verdict: string | null;
  fully_evaluated: boolean;
  detail: Buffer;
};

export async function check(input: CheckInput): Promise<CheckReport> {
  const database = new pg.Client({ connectionString: input.databaseUrl });
  await database.connect();
  try {
    const findings = [...input.ledger.findings];
    const drainedMs = await drain(database, findings);
    const rows = (
      await database.query<TraceRow>(
        "select id, external_id, path, revision from traces where agent_id = $1",
        [input.agentId],
      )
    ).rows;
    const spans = await checkTraces(input, rows, findings);
    const { runs, killed } = await checkRuns(database, input, rows, findings);
    await checkCounts(database, input, runs, findings);
    return { traces: rows.length, spans, runs: runs.length, killed, drainedMs, findings };
  } finally {
    await database.end();
  }
}

/** Waits until every run has ended. */
async function drain(database: pg.Client, findings: string[]): Promise<number> {
  const started = performance.now();
  for (;;) {
    const { rows } = await database.query<{ state: string; count: number }>(
      "select state, count(*)::int as count from queue group by state",
    );
    const waitedMs = performance.now() - started;
    if (rows.length === 0) return waitedMs;
    if (waitedMs > drainMsMax) {
      findings.push(
        `the backlog did not drain: ${rows.map(({ state, count }) => `${count} ${state}`).join(", ")}`,
      );
      return waitedMs;
    }
    await delay(200);
  }
}

/** Returns the number of stored spans. */
async function checkTraces(
  { ledger, readTraces }: CheckInput,
  rows: TraceRow[],
  findings: string[],
): Promise<number> {
  const idsOf = Map.groupBy(rows, row => row.external_id);
  const known = new Set(ledger.identities.map(({ externalId }) => externalId));
  for (const [externalId, { length }] of idsOf) {
    if (length > 1) findings.push(`${externalId} is stored as ${length} traces`);
    if (!known.has(externalId)) findings.push(`${externalId} is stored and was never sent`);
  }
  let spans = 0;
  const left = [...ledger.identities];
  const read = async (readTrace: CheckInput["readTraces"][number]) => {
    for (let identity = left.pop(); identity; identity = left.pop()) {
      const row = idsOf.get(identity.externalId)?.[0];
      if (!row) {
        if (identity.deliveries.some(({ acknowledgedMs }) => acknowledgedMs !== null))
          findings.push(`${identity.externalId} (${identity.path}) was acknowledged and is not stored`);
        continue;
      }
      const { spans: stored } = await readTrace(row.id);
      spans += stored.length;
      const texts = new Map(
        stored.map(({ span_id, attributes }) => [span_id, attributes["gen_ai.response.text"]]),
      );
      for (const fault of [faultOf(identity, texts), faultOfAnswers(identity)])
        if (fault) findings.push(`${identity.externalId} (${identity.path}, ${row.id}) ${fault}`);
    }
  };
  await Promise.all(Array.from({ length: readersOfNode }, () => readTraces.map(read)).flat());
  return spans;
}

/** Texts of the stored spans by span id. */
type Texts = Map<string, unknown>;

/** What is wrong with a stored trace, if anything. */
export function faultOf(identity: Identity, texts: Texts): string | undefined {
  return identity.path === "canonical" ? faultOfLast(identity, texts) : faultOfUnion(identity, texts);
}

const isWhole = ({ spans }: Delivery, texts: Texts) =>
  spans.every(({ spanId, text }) => texts.get(spanId) === text);

/** A version may be the last one unless another started after it had been acknowledged, and was acknowledged itself. */
function faultOfLast({ deliveries }: Identity, texts: Texts): string | undefined {
  const mayBeLast = deliveries.filter(
    ({ acknowledgedMs }) =>
      acknowledgedMs === null ||
      !deliveries.some(other => other.acknowledgedMs !== null && other.startedMs > acknowledgedMs),
  );
  if (mayBeLast.some(version => version.spans.length === texts.size && isWhole(version, texts)))
    return undefined;
  const at = deliveries.findIndex(version => isWhole(version, texts));
  return at < 0 ? "holds what was never sent" : `holds version ${at + 1} of ${deliveries.length}`;
}

/** Acknowledged batches are whole; others are whole, or absent but for what other batches brought. */
function faultOfUnion({ deliveries }: Identity, texts: Texts): string | undefined {
  const sent = new Map(deliveries.flatMap(({ spans }) => spans.map(({ spanId, text }) => [spanId, text])));
  for (const [spanId, text] of texts) if (sent.get(spanId) !== text) return `holds another span ${spanId}`;
  for (const [at, { spans, acknowledgedMs }] of deliveries.entries()) {
    const found = spans.filter(({ spanId }) => texts.has(spanId));
    if (found.length === spans.length) continue;
    const others = new Set(
      deliveries.flatMap(other => (other.spans === spans ? [] : other.spans.map(({ spanId }) => spanId))),
    );
    const isAbsent = acknowledgedMs === null && found.every(({ spanId }) => others.has(spanId));
    if (!isAbsent)
      return `holds ${found.length} of the ${spans.length} spans of batch ${at + 1}, ${acknowledgedMs === null ? "not " : ""}acknowledged`;
  }
  return undefined;
}

/** One request makes a canonical trace, all others replace it. Which one did is unknown if an answer was lost. */
export function faultOfAnswers({ path, created, unknown }: Identity): string | undefined {
  if (path === "otlp" || created === 1 || (created === 0 && unknown > 0)) return undefined;
  return `was answered 201 ${created} times`;
}

/**
 * One completed run for a trace and revision, with one result of each eligible test. OTLP: the newest revision that added a
 * span is among them, or a later one; a canonical trace is evaluated once, and not again when it is replaced.
 */
async function checkRuns(
  database: pg.Client,
  { agentId, tests }: CheckInput,
  rows: TraceRow[],
  findings: string[],
): Promise<{ runs: RunRow[]; killed: number }> {
  const { rows: failed } = await database.query<FailedRow>(
    "select id, trace_id, attempts, error from runs where agent_id = $1 and state = 'error'",
    [agentId],
  );
  // A run whose process was killed three times while it was evaluated ends as an error: its trace may be why.
  const isKilled = ({ attempts, error }: FailedRow) => attempts === attemptsMax && /crashed/.test(error);
  const killed = new Set(failed.filter(isKilled).map(run => run.trace_id));
  for (const run of failed)
    if (!isKilled(run)) findings.push(`run ${run.id} ended with an error: ${run.error}`);
  const { rows: runs } = await database.query<RunRow>(
    "select id, trace_id, revision, cause, verdict, fully_evaluated, detail from runs where agent_id = $1 and state = 'completed' and kind = 'passive'",
    [agentId],
  );
  const runsOf = Map.groupBy(runs, run => run.trace_id);
  const grown = await lastGrowth(database, agentId);
  for (const { id, path, revision } of rows) {
    const own = runsOf.get(id) ?? [];
    if (path === "canonical") {
      if (own.length !== (killed.has(id) ? 0 : 1))
        findings.push(`canonical trace ${id} was evaluated ${own.length} times`);
      continue;
    }
    const last = grown.get(id) ?? revision;
    if (!own.some(run => run.revision >= last) && !killed.has(id))
      findings.push(`trace ${id} was not evaluated at its revision ${last} of ${revision}`);
    for (const [at, { length }] of Map.groupBy(own, run => run.revision))
      if (length > 1) findings.push(`trace ${id} was evaluated ${length} times at revision ${at}`);
  }
  const listOf = (ids: string[]) => ids.toSorted((a, b) => a.localeCompare(b)).join();
  const expected = listOf(tests.eligible);
  for (const { id, detail } of runs) {
    const judged = decodeDetail(detail).results.map(({ testId }) => testId);
    if (listOf(judged) !== expected)
      findings.push(`run ${id} has the results of ${judged.join(", ") || "no test"}`);
  }
  return { runs, killed: killed.size };
}

/**
 * The revision in which each merged trace got a span last. A batch of known spans causes no evaluation, such as one that is
 * delivered again after another batch has brought some of its spans.
 */
async function lastGrowth(database: pg.Client, agentId: string): Promise<Map<string, number>> {
  const { rows } = await database.query<{ trace_id: string; seq: number; span_keys: Buffer }>(
    `select trace_id, seq, span_keys from trace_batches
      where trace_id in (select id from traces where agent_id = $1 and path = 'otlp') order by trace_id, seq`,
    [agentId],
  );
  const known = new Set<string>();
  const last = new Map<string, number>();
  for (const { trace_id, seq, span_keys } of rows) {
    const before = known.size;
    for (const key of keysIn(span_keys)) known.add(`${trace_id} ${key}`);
    // Each batch of a merged trace is one revision.
    if (known.size > before) last.set(trace_id, seq);
  }
  return last;
}

/**
 * The counts by hour equal a recount: an agent's count each trace by its latest run, a test's every run but those in whose place
 * the next one was asked for.
 */
async function checkCounts(
  database: pg.Client,
  { agentId, tests }: CheckInput,
  runs: RunRow[],
  findings: string[],
): Promise<void> {
  const recounted = new Map<string, number>();
  const add = (key: string) => recounted.set(key, (recounted.get(key) ?? 0) + 1);
  const ordered = runs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const latest = new Map(ordered.map(run => [run.trace_id, run]));
  for (const { verdict, fully_evaluated } of latest.values()) {
    add("runs");
    if (!fully_evaluated) add("agent not_fully_evaluated");
    else if (verdict) add(`agent ${verdict}`);
  }
  for (const own of Map.groupBy(ordered, run => run.trace_id).values()) {
    for (const { detail } of own.filter((_, at) => own[at + 1]?.cause !== "again"))
      for (const { testId, outcome, fullyEvaluated } of decodeDetail(detail).results)
        add(`${testId} ${fullyEvaluated ? outcome : "not_fully_evaluated"}`);
  }
  const outcomes = ["passed", "failed", "skipped", "missing_instrumentation", "not_fully_evaluated"];
  const { rows } = await database.query<{ key: string; count: number }>(
    `select key, count from (select sum(runs)::int as runs, ${outcomes.map(name => `sum(${name})::int as ${name}`).join(", ")}
        from agent_hours where agent_id = $1) as hours
        cross join lateral (values ('runs', runs), ${outcomes.map(name => `('agent ${name}', ${name})`).join(", ")}) as pair (key, count)
      union all
      select key, count from (select test_id, ${outcomes.map(name => `sum(${name})::int as ${name}`).join(", ")}
        from test_hours where test_id = any ($2) group by test_id) as hours
        cross join lateral (values ${outcomes.map(name => `(test_id || ' ${name}', ${name})`).join(", ")}) as pair (key, count)`,
    [agentId, [...tests.eligible, ...tests.ineligible]],
  );
  const kept = new Map(rows.filter(({ count }) => count > 0).map(({ key, count }) => [key, count]));
  for (const key of new Set([...kept.keys(), ...recounted.keys()])) {
    const [have, want] = [kept.get(key) ?? 0, recounted.get(key) ?? 0];
    if (have !== want) findings.push(`the hours count ${have} for ${key}, the runs ${want}`);
  }
}
