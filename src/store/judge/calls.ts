// Stores every judge call with its texts and its cost per day and test, in one statement.
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { JudgeCall } from "../../model/judge/call.ts";
import type { JudgeUse } from "../../model/judge/use.ts";
import { isUuid } from "../accounts/ownership.ts";
import type { Database } from "../db.ts";
import { oldest } from "../listing.ts";
import { multiRow } from "../multi-row.ts";
import { placeOf } from "../scale/places.ts";

export type CallEntry = {
  id: string;
  agentId: string;
  projectId: string;
  /** Null if no stored trace is judged. */
  traceId: string | null;
  /** Null for dry runs and scenario trials. */
  runId: string | null;
  call: JudgeCall;
  /** Null if the price is unknown. */
  costUsd: number | null;
  /** Each test's share of the call's questions; the sum is 1. */
  shares: Map<string, number>;
  /** The valid answers, by the keys (64 hex digits) of their questions. */
  answers: Map<string, string>;
};

const shareRows = multiRow<[testId: string, part: number]>(17, {
  test_id: ["uuid", ([testId]) => testId],
  part: ["float8", ([, part]) => part],
});

const answerRows = multiRow<[key: string, answer: string]>(19, {
  key: ["bytea", ([key]) => Buffer.from(key, "hex")],
  answer: ["text", ([, answer]) => answer],
});

/**
 * Stores a call; idempotent, so it can be retried. Stores nothing for a deleted agent, no texts about a trace that was deleted
 * or forgotten, and no shares of tests that are not saved.
 */
export async function keepJudgeCall(db: Database, entry: CallEntry): Promise<void> {
  const { id, agentId, projectId, traceId, runId, call, costUsd } = entry;
  const shares = [...entry.shares].filter(([testId]) => isUuid(testId)).sort(([a], [b]) => (a < b ? -1 : 1));
  const answers = [...entry.answers].sort(([a], [b]) => (a < b ? -1 : 1));
  const { instructions, material, answer } = call;
  await (await placeOf(db, agentId)).pool.query({
    name: "keep-judge-call",
    text: `with agent as (
        select id from agents where id = $1 and not exists (
          select from judge_calls where agent_id = $1 and id = $22
        ) for key share
      ),
      -- Locked until the commit, so that a deletion of the trace deletes this call too.
      -- Of one that was forgotten, nothing is stored.
      trace as (
        select id from traces where agent_id = $1 and id = $3 and content is distinct from 'forgotten' for key share
      ),
      -- The run too: a manual run quotes the traces of all its turns, and is deleted, or ends, with any of them.
      run as (
        select id from runs where agent_id = $1 and id = $4 and (kind <> 'manual' or state = 'running')
          and exists (select from trace) for share
      ),
      quoted as (
        select where ($3::uuid is null or exists (select from trace))
          and ($4::uuid is null or exists (select from run))
      ),
      day as (
        insert into judge_days as known
            (agent_id, day, calls, cached, input_tokens, output_tokens, cost_usd, unpriced_tokens, estimated_tokens)
          select agent.id, (now() at time zone 'utc')::date, 1, 0, $13::int, $14::int, coalesce($15::float8, 0),
            case when $15::float8 is null then $13::int + $14::int else 0 end,
            case when $23::boolean then $13::int + $14::int else 0 end
          from agent
        on conflict (agent_id, day) do update set calls = known.calls + 1,
          input_tokens = known.input_tokens + excluded.input_tokens,
          output_tokens = known.output_tokens + excluded.output_tokens,
          cost_usd = known.cost_usd + excluded.cost_usd,
          unpriced_tokens = known.unpriced_tokens + excluded.unpriced_tokens,
          estimated_tokens = known.estimated_tokens + excluded.estimated_tokens
      ), tests as (
        insert into judge_test_days as known
            (agent_id, test_id, day, input_tokens, output_tokens, cost_usd, unpriced_tokens, estimated_tokens)
          select t.agent_id, t.id, (now() at time zone 'utc')::date, item.part * $13::int, item.part * $14::int,
            item.part * coalesce($15::float8, 0),
            case when $15::float8 is null then item.part * ($13::int + $14::int) else 0 end,
            case when $23::boolean then item.part * ($13::int + $14::int) else 0 end
          from ${shareRows.from}
          join test_cases t on t.id = item.test_id and t.agent_id = (select id from agent)
          order by t.id
        on conflict (agent_id, test_id, day) do update set
          input_tokens = known.input_tokens + excluded.input_tokens,
          output_tokens = known.output_tokens + excluded.output_tokens,
          cost_usd = known.cost_usd + excluded.cost_usd,
          unpriced_tokens = known.unpriced_tokens + excluded.unpriced_tokens,
          estimated_tokens = known.estimated_tokens + excluded.estimated_tokens
      ), answers as (
        insert into judge_answers (agent_id, key, project_id, answer, trace_id, made_at)
          -- What a criterion rests on is asked once per wording: it neither expires nor is deleted with the trace.
          select $1, item.key, p.id, item.answer, case when $6 = 'classify' then null else $3::uuid end,
            case when $6 = 'classify' then 'infinity' else now() end
          from ${answerRows.from} join projects p on p.id = $2
          where exists (select from quoted)
        on conflict (agent_id, key) do update set answer = excluded.answer, made_at = excluded.made_at,
          trace_id = excluded.trace_id
      )
      insert into judge_calls (id, agent_id, trace_id, run_id, started_at, kind, provider, model, prompt_version,
          mode, state, reason, ms, input_tokens, output_tokens, tokens_estimated, cost_usd, detail)
        select $22, agent.id, $3, $4, to_timestamp($5::float8 / 1000), $6, $7, $8, $9, $10, $11, $12, $16::int,
          $13::int, $14::int, $23::boolean, $15::float8, $21
        from agent where exists (select from quoted)`,
    values: [
      agentId,
      projectId,
      traceId,
      runId,
      call.startedAt,
      call.kind,
      call.provider,
      call.model,
      call.promptVersion,
      call.mode,
      call.state,
      call.reason,
      call.inputTokens,
      call.outputTokens,
      costUsd,
      Math.round(call.ms),
      ...shareRows.values(shares),
      ...answerRows.values(answers),
      zstdCompressSync(JSON.stringify({ instructions, material, answer } satisfies Said)),
      id,
      call.tokensEstimated,
    ],
  });
}

/** Counts questions that needed no call. */
export async function countCached(db: Database, agentId: string, questions: number): Promise<void> {
  await (await placeOf(db, agentId)).pool.query({
    name: "count-cached",
    text: `insert into judge_days as known
          (agent_id, day, calls, cached, input_tokens, output_tokens, cost_usd, unpriced_tokens)
        select id, (now() at time zone 'utc')::date, 0, $2::int, 0, 0, 0, 0 from agents where id = $1 for key share
      on conflict (agent_id, day) do update set cached = known.cached + excluded.cached`,
    values: [agentId, questions],
  });
}

type Said = Pick<JudgeCall, "instructions" | "material" | "answer">;

/** `costUsd` is null if the price is unknown. */
export type KeptCall = Omit<JudgeCall, "startedAt"> & { id: string; startedAt: Date; costUsd: number | null };

/** A run's calls with their texts, in the order in which they ended, after the one with the id `after`. */
export async function listJudgeCalls(
  db: Database,
  runId: string,
  { after = oldest, rowsMax }: { after?: string | undefined; rowsMax: number } = { rowsMax: 50 },
): Promise<KeptCall[]> {
  const { rows } = await db.pool.query<Omit<KeptCall, keyof Said> & { detail: Buffer }>({
    name: "judge-calls-of-run",
    text: `select id, kind, started_at as "startedAt", ms, provider, model, prompt_version as "promptVersion", mode,
        state, reason, input_tokens as "inputTokens", output_tokens as "outputTokens",
        tokens_estimated as "tokensEstimated", cost_usd as "costUsd", detail
      from judge_calls where run_id = $1 and id > $3 order by id limit $2`,
    values: [runId, rowsMax, after],
  });
  return rows.map(({ detail, ...call }) => ({
    ...call,
    ...(JSON.parse(zstdDecompressSync(detail).toString()) as Said),
  }));
}

export type JudgeUseSum = JudgeUse & { calls: number };

/** The sums of each run that made calls. */
export async function sumJudgeUse(db: Database, runIds: string[]): Promise<Map<string, JudgeUseSum>> {
  if (runIds.length === 0) return new Map();
  const { rows } = await db.pool.query<JudgeUseSum & { runId: string }>({
    name: "judging-of-runs",
    text: `select run_id as "runId", count(*)::int as calls, sum(input_tokens) as "inputTokens",
        sum(output_tokens) as "outputTokens", coalesce(sum(cost_usd), 0) as "costUsd",
        coalesce(sum(input_tokens + output_tokens) filter (where cost_usd is null), 0) as "unpricedTokens",
        coalesce(sum(input_tokens + output_tokens) filter (where tokens_estimated), 0) as "estimatedTokens"
      from judge_calls where run_id = any ($1::uuid[]) group by run_id`,
    values: [runIds],
  });
  return new Map(rows.map(({ runId, ...sum }) => [runId, sum]));
}
