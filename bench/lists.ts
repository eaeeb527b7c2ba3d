// npm run bench -- lists: measures the time to list a page of an agent's traces among a million, for each filter, and to
// read its overview.
import { zstdCompressSync } from "node:zlib";
import type pg from "pg";
import { readOverview } from "../src/http/projects/overview.ts";
import { type Database, openDatabase } from "../src/store/db.ts";
import { newest } from "../src/store/listing.ts";
import { listRunsOfTest } from "../src/store/runs/read.ts";
import { outcomeLetters } from "../src/store/runs/result-values.ts";
import { listTraces, type TraceFilters } from "../src/store/traces/list.ts";
import { listOrdered, type Sort } from "../src/store/traces/list-ordered.ts";
import { conversationPages, conversationSql, userSql } from "./list-conversations.ts";
import { makeProject } from "./project.ts";

const rounds = 40;
const rowsMax = 51;
const days = 30;

/** Returns lines to print. Measures the queries and the mapping of their rows, without HTTP. */
export async function listTimes(database: pg.Client, url: string, traces: number): Promise<string[]> {
  const { agentId } = await makeProject(url, { serviceName: "listed", tests: 2 });
  const { rows: tests } = await database.query<{ id: string }>(
    "select id from test_cases where agent_id = $1 order by id",
    [agentId],
  );
  const [dense, rare] = tests.map(test => test.id) as [string, string];
  const filling = performance.now();
  await fill(database, { agentId, dense, rare, traces });
  const lines = [`${traces} traces with a run each, created in ${seconds(performance.now() - filling)} s`];
  const db = openDatabase(url, 2);
  const now = Date.now();
  const cases: [string, TraceFilters][] = [
    ["no filter", {}],
    ["kind=test_run, 1 in 100,000", { kind: "test_run" }],
    ["path=canonical, none", { path: "canonical" }],
    ["state=pending, none", { state: "pending" }],
    ["state=error, 1 in 100,000", { state: "error" }],
    ["state=none, none", { state: "none" }],
    ["verdict=passed, most", { verdict: "passed" }],
    ["verdict=missing…, 1 in 100,000", { verdict: "missing_instrumentation" }],
    ["verdict=skipped, none", { verdict: "skipped" }],
    ["routing=unavailable, 1 in 100,000", { routing: "unavailable" }],
    ["routing=ok, none", { routing: "ok" }],
    ["failed, 1 in 100,000", { failed: true }],
    ["failed and verdict=passed", { failed: true, verdict: "passed" }],
    ["httpStatus=503, 1 in 100,000", { httpStatus: 503 }],
    ["httpStatus=418, none", { httpStatus: 418 }],
    ["externalId, one", { externalId: `x${Math.floor(traces / 2)}` }],
    ["externalId, none", { externalId: "absent" }],
    ["testId, most", { testId: dense }],
    ["testId, 1 in 100,000", { testId: rare }],
    ["testOutcome=passed, most", { testId: dense, testOutcome: "passed" }],
    ["testOutcome=missing…, 1 in 100,000", { testId: rare, testOutcome: "missing_instrumentation" }],
    ["testOutcome=failed, none", { testId: dense, testOutcome: "failed" }],
    ["testVersion, most", { testId: dense, testVersion: 2 }],
    ["testVersion, 1 in 100,000", { testId: dense, testVersion: 1 }],
    ["testVersion and testOutcome, none", { testId: dense, testVersion: 1, testOutcome: "failed" }],
    ["tool, most", { tool: "find_order" }],
    ["tool, 1 in 100,000", { tool: "refund" }],
    ["tool, none", { tool: "absent" }],
    ["tool, most, and verdict=failed, none", { tool: "find_order", verdict: "failed" }],
    ["model, most", { model: "large" }],
    ["model, 1 in 100,000", { model: "small" }],
    ["tool, most, and model, 1 in 100,000", { tool: "find_order", model: "small" }],
    ["checkType, most", { testIds: [dense, rare] }],
    ["checkType, 1 in 100,000", { testIds: [rare] }],
    ["checkType and verdict=failed, none", { testIds: [dense], verdict: "failed" }],
    [
      "an hour, half a month ago",
      { receivedFrom: new Date(now - 361 * 3.6e6), receivedTo: new Date(now - 360 * 3.6e6) },
    ],
    ["durationMinMs, 1 in 100,000", { durationMinMs: 60_000 }],
    ["tokensMin, none", { tokensMin: 1_000_000 }],
    ["text, 1 in 100,000", { text: "unicorn" }],
    ["text, none", { text: "basilisk" }],
  ];
  lines.push(header("first page"));
  for (const [name, filters] of cases) {
    lines.push(await measure(name, before => listTraces(db, agentId, filters, { before, rowsMax })));
  }
  for (const [name, sort, filters] of [
    ["order=longest", "longest", {}],
    ["order=most_tokens, tool, most", "most_tokens", { tool: "find_order" }],
    ["order=longest, tool, 1 in 100,000", "longest", { tool: "refund" }],
    ["order=most_expensive", "most_expensive", {}],
    ["order=most_expensive, tool, most", "most_expensive", { tool: "find_order" }],
  ] as const) {
    lines.push(await measure(name, () => orderedPage(db, agentId, filters, sort)));
  }
  for (const [name, testId] of [
    ["runs of a test, most", dense],
    ["runs of a test, 1 in 100,000", rare],
  ] as const) {
    lines.push(await measure(name, before => listRunsOfTest(db, { agentId, testId }, { before, rowsMax })));
  }
  for (const [name, testId, outcome] of [
    ["with outcome=passed, most", dense, "passed"],
    ["with outcome=failed, none", dense, "failed"],
    ["with outcome=missing…, 1 in 100,000", rare, "missing_instrumentation"],
  ] as const) {
    const test = { agentId, testId, outcome };
    lines.push(await measure(name, before => listRunsOfTest(db, test, { before, rowsMax })));
  }
  for (const [name, page] of await conversationPages(db, agentId, rowsMax)) {
    lines.push(await measure(name, page));
  }
  lines.push(await measure("overview", () => overviewOf(db, agentId)));
  await db.close();
  return lines;
}

/** The first page of the newest 10,000. */
async function orderedPage(db: Database, agentId: string, filters: TraceFilters, sort: Sort) {
  const { rows } = await listOrdered(db, agentId, filters, { sort, rowsMax });
  return { rows, reach: null };
}

async function overviewOf(db: Database, agentId: string): Promise<{ rows: { id: string }[]; reach: null }> {
  const { failures } = await readOverview(db, agentId, Date.now());
  return { rows: failures, reach: null };
}

type Page = (before: string) => Promise<{ rows: { id: string }[]; reach: string | null }>;

/** Reads the first page many times, then follows at most 2,000 cursors until a page is full or the list ends. */
async function measure(name: string, page: Page): Promise<string> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now();
    await page(newest);
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  const begun = performance.now();
  let found = 0;
  let pages = 0;
  let slowest = 0;
  for (let before: string | null = newest; before !== null && found < rowsMax && pages < 2_000; pages++) {
    const pageBegun = performance.now();
    const { rows, reach }: Awaited<ReturnType<Page>> = await page(before);
    slowest = Math.max(slowest, performance.now() - pageBegun);
    found += rows.length;
    before = reach;
  }
  return row(name, [
    times[Math.floor(rounds * 0.5)]!.toFixed(1),
    times[Math.floor(rounds * 0.95)]!.toFixed(1),
    String(found),
    String(pages),
    slowest.toFixed(1),
    seconds(performance.now() - begun),
  ]);
}

function header(what: string): string {
  return row(what, ["p50 ms", "p95 ms", "rows", "pages", "slowest ms", "all s"]);
}

function row(name: string, cells: string[]): string {
  return name.padEnd(36) + cells.map(cell => cell.padStart(11)).join("");
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}

type Filling = { agentId: string; dense: string; rare: string; traces: number };

/** Inserts traces evenly over the last 30 days; one in 100,000 differs in every filtered field. */
export async function fill(database: pg.Client, { agentId, dense, rare, traces }: Filling): Promise<void> {
  const text = "Where is my order, please? I have waited for it since the beginning of last week. ";
  const step = 50_000;
  for (let from = 0; from < traces; from += step) {
    await database.query(
      `with stored as (
      insert into traces (id, agent_id, external_id, kind, path, received_at, updated_at, batch_spans, batch_bytes,
        derived_revision, name, duration_ms, http_status, input_tokens, output_tokens, failed, span_count, user_input,
        response_text, tools, models, usage, conversation_id, user_id, turn_at)
      select id_at(at, gen_random_uuid()), $1, 'x' || n, case when odd then 'test_run' else 'live' end, 'otlp', at, at, 12, 27000,
        1, 'invoke_agent', case when odd then 90000 else 100 + n % 3000 end, case when odd then 503 else 200 end,
        n % 900, n % 300, odd, 12, repeat($2, 2) || n, repeat($2, 5) || case when odd then 'unicorn' else '' end,
        case when odd then array['find_order', 'refund'] else array['find_order'] end,
        case when odd then array['large', 'small'] else array['large'] end,
        ${usageSql}, ${conversationSql}, ${userSql}, n
      from (
        select n, n % 100000 = 50000 as odd,
          clock_timestamp() - ($5::float8 - n) / $5 * $6::int * interval '1 day' as at
        from generate_series($3::int, $4::int) as n
      ) one returning id, agent_id, external_id
      )
      insert into trace_identities (agent_id, trace_id, external_id) select agent_id, id, external_id from stored`,
      [agentId, text, from, Math.min(from + step, traces) - 1, traces, days],
    );
  }
  await database.query(
    `insert into runs (id, trace_id, agent_id, kind, state, due_at, created_at, routing, verdict, passed, failed,
      skipped, missing_instrumentation, test_ids, test_outcomes, test_versions, detail)
    select id_at(received_at, gen_random_uuid()), id, agent_id, 'passive',
      case when failed and external_id like '%150000' then 'error' else 'completed' end, received_at, received_at,
      case when failed then 'unavailable' else 'not_needed' end,
      case when failed then 'missing_instrumentation' else 'passed' end, 1, 0, 0, 0,
      case when failed then array[$2::uuid, $3::uuid] else array[$2::uuid] end,
      case when failed then 'pm' else 'p' end, case when failed then array[1, 1] else array[2] end,
      case when failed then $5::bytea else $4::bytea end
    from traces where agent_id = $1 order by id`,
    [
      agentId,
      dense,
      rare,
      detailOf({ [dense]: "passed" }),
      detailOf({ [dense]: "passed", [rare]: "missing_instrumentation" }),
    ],
  );
  await fillValues(database, agentId);
  await database.query(
    `insert into test_hours
    select tested.id, date_trunc('hour', created_at, 'UTC'), count(*) filter (where tested.id = $2), 0, 0,
      count(*) filter (where tested.id <> $2), max(created_at), 'passed', $1
    from runs, unnest(test_ids) as tested (id) where agent_id = $1 group by 1, 2`,
    [agentId, dense],
  );
  await database.query(
    `insert into agent_hours
    select agent_id, date_trunc('hour', created_at, 'UTC'), count(*), count(*) filter (where verdict = 'passed'), 0, 0,
      count(*) filter (where verdict = 'missing_instrumentation'), count(*) filter (where routing = 'unavailable'),
      count(*) * 640, count(*) * 118, array[0, count(*)]
    from runs where agent_id = $1 group by 1, 2`,
    [agentId],
  );
  await database.query("vacuum analyze traces, runs, trace_values, test_hours, agent_hours");
}

/** Traces have different counts of tokens, and two of three call a second model. */
const usageSql = `case when n % 3 = 0 then '[' else '[["openai","gpt-4o",0,1,0,' || n % 700 || ',0,0,' || n % 90 || '],' end
  || '["openai","gpt-4o-mini",0,6,0,' || n % 900 || ',' || n % 100 || ',0,' || n % 300 || ']]'`;

/** What the lists find tools, models, and outcomes and versions of tests by. */
async function fillValues(database: pg.Client, agentId: string): Promise<void> {
  await database.query(
    `insert into trace_values (agent_id, kind, value, minute)
    select distinct $1::uuid, called.kind, called.value, minute_of(id)
    from traces, lateral (
      select 'tool', unnest(tools) union all select 'model', unnest(models)
    ) called (kind, value)
    where agent_id = $1`,
    [agentId],
  );
  await database.query(
    `insert into trace_values (agent_id, kind, value, minute)
    select distinct $1::uuid, kept.kind, result.test_id || ' ' || kept.value, minute_of(trace_id) / 60 * 60
    from runs, unnest(test_ids, string_to_array(test_outcomes, null), test_versions) as result (test_id, letter, version),
      lateral (values ('outcome', $2::jsonb ->> letter), ('version', version::text)) as kept (kind, value)
    where agent_id = $1 and state = 'completed'`,
    [
      agentId,
      JSON.stringify(
        Object.fromEntries(Object.entries(outcomeLetters).map(([name, letter]) => [letter, name])),
      ),
    ],
  );
}

/** The stored detail of a run with these outcomes, as large as that of a test with two checks. */
function detailOf(outcomes: Record<string, string>): Buffer {
  const check = {
    id: "c",
    type: "semantic",
    reason: "The judge's score is 0.9 of at least 0.5.",
    evidence: [],
  };
  const results = Object.entries(outcomes).map(([testId, outcome]) => ({
    testId,
    outcome,
    checks: [check, check].map((one, at) => ({ ...one, id: `c${at}`, outcome })),
  }));
  return zstdCompressSync(JSON.stringify({ results, tests: [] }));
}
