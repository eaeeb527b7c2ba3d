// Stores every judge call with its texts and its cost per day and test, in one statement.
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { JudgeCall } from "../../model/judge/call.ts";
import type { JudgeUse } from "../../model/judge/use.ts";
import { isUuid } from "../accounts/ownership.ts";
import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { oldest } from "../listing.ts";
import { bound, type Parameters } from "../parameters/bound.ts";
import { multiRow } from "../parameters/multi-row.ts";

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

const shareRows = multiRow<[testId: string, part: number]>(2, {
  test_id: ["uuid", ([testId]) => testId],
  part: ["float8", ([, part]) => part],
});

const answerRows = multiRow<[key: string, answer: string]>(4, {
  key: ["bytea", ([key]) => Buffer.from(key, "hex")],
  answer: ["text", ([, answer]) => answer],
});

/**
 * Stores a call; idempotent, so it can be retried. Stores nothing for a deleted agent, no texts about a trace that was deleted
 * or forgotten, and no shares of tests that are not saved.
 */
export async function keepJudgeCall(db: Database, entry: CallEntry): Promise<void> {
  const shares = [...entry.shares].filter(([testId]) => isUuid(testId)).sort(([a], [b]) => (a < b ? -1 : 1));
  const answers = [...entry.answers].sort(([a], [b]) => (a < b ? -1 : 1));
  const first = [entry.projectId, ...shareRows.values(shares), ...answerRows.values(answers)];
  await (await placeOf(db, entry.agentId)).pool.query({
    name: "keep-judge-call",
    ...bound(rowOf(entry), insertCall, first),
  });
}

function rowOf({ id, agentId, traceId, runId, call, costUsd }: CallEntry) {
  const { instructions, material, answer } = call;
  return {
    ...{ id, agent_id: agentId, trace_id: traceId, run_id: runId, started_at: new Date(call.startedAt) },
    ...{ kind: call.kind, provider: call.provider, model: call.model, prompt_version: call.promptVersion },
    ...{ mode: call.mode, state: call.state, reason: call.reason, ms: Math.round(call.ms) },
    ...{ input_tokens: call.inputTokens, output_tokens: call.outputTokens, cost_usd: costUsd },
    tokens_estimated: call.tokensEstimated,
    detail: zstdCompressSync(JSON.stringify({ instructions, material, answer } satisfies Said)),
  };
}

/** `$1` is the project, followed by the shares and answers. */
function insertCall(at: Parameters<ReturnType<typeof rowOf>>): string {
  const [input, output, cost] = [
    `${at.input_tokens}::int`,
    `${at.output_tokens}::int`,
    `${at.cost_usd}::float8`,
  ];
  return `with agent as (
        select id from agents where id = ${at.agent_id} and not exists (
          select from judge_calls where agent_id = ${at.agent_id} and id = ${at.id}
        ) for key share
      ),
      -- Locked until the commit, so that a deletion of the trace deletes this call too.
      -- Of one that was forgotten, nothing is stored.
      trace as (
        select id from traces where agent_id = ${at.agent_id} and id = ${at.trace_id}
          and content is distinct from 'forgotten' for key share
      ),
      -- The run too: a manual run quotes the traces of all its turns, and is deleted, or ends, with any of them.
      open_run as (
        select id from queue where agent_id = ${at.agent_id} and id = ${at.run_id} and exists (select from trace) for share
      ),
      quoted as (
        select where (${at.trace_id}::uuid is null or exists (select from trace)) and (
          ${at.run_id}::uuid is null or exists (select from open_run) or exists (
            select from runs where agent_id = ${at.agent_id} and id = ${at.run_id} and kind = 'passive' and exists (select from trace)
          )
        )
      ),
      day as (
        insert into judge_days as known
            (agent_id, day, calls, cached, input_tokens, output_tokens, cost_usd, unpriced_tokens, estimated_tokens)
          select agent.id, (now() at time zone 'utc')::date, 1, 0, ${input}, ${output}, coalesce(${cost}, 0),
            case when ${cost} is null then ${input} + ${output} else 0 end,
            case when ${at.tokens_estimated}::boolean then ${input} + ${output} else 0 end
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
          select t.agent_id, t.id, (now() at time zone 'utc')::date, item.part * ${input}, item.part * ${output},
            item.part * coalesce(${cost}, 0),
            case when ${cost} is null then item.part * (${input} + ${output}) else 0 end,
            case when ${at.tokens_estimated}::boolean then item.part * (${input} + ${output}) else 0 end
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
          select ${at.agent_id}, item.key, p.id, item.answer,
            case when ${at.kind} = 'classify' then null else ${at.trace_id}::uuid end,
            case when ${at.kind} = 'classify' then 'infinity' else now() end
          from ${answerRows.from} join projects p on p.id = $1
          where exists (select from quoted)
        on conflict (agent_id, key) do update set answer = excluded.answer, made_at = excluded.made_at,
          trace_id = excluded.trace_id
      )
      insert into judge_calls (${Object.keys(at)})
        select ${Object.values(at)} from agent where exists (select from quoted)`;
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
