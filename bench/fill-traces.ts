// Fills the database of a service with traces of an agent that have a run each, by SQL: loading them takes a minute a million.
import { zstdCompressSync } from "node:zlib";
import type pg from "pg";

const days = 30;

/** How many traces lists and pages are measured among. */
export function tracesOf({ isCompared }: { isCompared: boolean }, compared: number): number {
  return Number(process.env["BENCH_TRACES"] ?? (isCompared ? compared : 1_000_000));
}

/** Of the traces `n` of `$5`: five in each conversation, but for one that has a tenth of all. */
const conversationSql = `case when n >= $5 * 0.7 and n < $5 * 0.8 then 'giant' else md5((n / 5)::text) end`;
/** A user has a ten-thousandth of the traces. */
const userSql = "md5((n % 10000)::text || 'user')";

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
    `insert into test_hours (test_id, hour, passed, failed, skipped, missing_instrumentation, last_run_at, last_outcome,
      agent_id)
    select tested.id, date_trunc('hour', created_at, 'UTC'), count(*) filter (where tested.id = $2), 0, 0,
      count(*) filter (where tested.id <> $2), max(created_at), 'passed', $1
    from runs, unnest(test_ids) as tested (id) where agent_id = $1 group by 1, 2`,
    [agentId, dense],
  );
  await database.query(
    `insert into agent_hours (agent_id, hour, runs, passed, failed, skipped, missing_instrumentation, routing_unavailable,
      input_tokens, output_tokens, durations)
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
    [agentId, JSON.stringify({ p: "passed", m: "missing_instrumentation" })],
  );
}

/** The stored detail of a run with these outcomes, as large as that of a test with two checks. */
function detailOf(outcomes: Record<string, string>): Buffer {
  const said = { reason: "The judge's score is 0.9 of at least 0.5.", reasonCode: "score" };
  const check = { type: "semantic", ...said, expected: null, actual: null, evidence: [] };
  const counts = { passed: 2, failed: 0, skipped: 0, missing_instrumentation: 0 };
  const results = Object.entries(outcomes).map(([testId, outcome]) => ({
    ...{ testId, name: "Test", outcome, score: 1, ...said, counts, test: {}, testVersion: 1 },
    checks: ["a", "b"].map(id => ({ id, outcome, ...check })),
  }));
  return zstdCompressSync(JSON.stringify({ results, tests: [] }));
}
