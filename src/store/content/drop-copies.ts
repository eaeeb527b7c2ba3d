// Drops what quotes traces whose content is forgotten: results, turns, judge calls and answers, labels, backtests, records.
import { zstdCompressSync } from "node:zlib";
import type pg from "pg";
import { forgottenResults } from "../../model/run/forgotten-results.ts";
import { type RunTurn, turnWithoutReply } from "../../model/run/launch.ts";
import { reasonText } from "../../model/run/reason-text.ts";
import { multiRow } from "../parameters/multi-row.ts";
import { decodeDetail, encodeDetail } from "../runs/detail.ts";

/** `subjectIds`: the traces that its results quote, and itself. */
export type QuotingRun = { id: string; kind: string; subjectIds: string[]; detail: Buffer | null };

const details = multiRow<{ id: string; detail: Buffer }>(1, {
  id: ["uuid", ({ id }) => id],
  detail: ["bytes", ({ detail }) => detail],
});

/** What an outage of the judge skipped stays skipped: there is nothing left to ask about. */
export async function dropResults(client: pg.PoolClient, runs: QuotingRun[]): Promise<void> {
  const left = runs.flatMap(({ id, detail }) =>
    detail ? [{ id, detail: encodeDetail(forgottenResults(decodeDetail(detail))) }] : [],
  );
  if (left.length === 0) return;
  await client.query({
    name: "drop_results",
    text: `update runs set detail = ${details.bytes("detail")}, outage_open = outage_open and kind = 'manual'
      from ${details.from} where runs.id = item.id`,
    values: details.values(left),
  });
}

type TurnRow = { agent_id: string; run_id: string; turn: number; document: string };

const turnRows = multiRow<TurnRow>(1, {
  agent_id: ["uuid", row => row.agent_id],
  run_id: ["uuid", row => row.run_id],
  turn: ["int", row => row.turn],
  document: ["text", row => row.document],
});

export async function dropTurns(client: pg.PoolClient, runIds: string[]): Promise<void> {
  if (runIds.length === 0) return;
  const { rows } = await client.query<TurnRow>({
    name: "turns_to_forget",
    text: `select u.agent_id, u.run_id, u.turn, u.document
      from runs r join run_turns u on u.agent_id = r.agent_id and u.run_id = r.id where r.id = any ($1::uuid[])`,
    values: [runIds],
  });
  const left = rows.map(row => {
    const turn: RunTurn = JSON.parse(row.document);
    return { ...row, document: JSON.stringify(turnWithoutReply(turn, "forgotten")) };
  });
  await client.query({
    name: "drop_turns",
    text: `update run_turns u set document = item.document, reply = null, sent = null
      from ${turnRows.from}
      where u.agent_id = item.agent_id and u.run_id = item.run_id and u.turn = item.turn`,
    values: turnRows.values(left),
  });
}

const noTexts = zstdCompressSync(JSON.stringify({ instructions: "", material: "", answer: null }));

type Dropped = { traceIds: string[]; manualIds: string[]; subjectIds: string[] };

/** What quotes the traces elsewhere. A manual run quotes the traces of all its turns. */
export async function dropCopies(
  client: pg.PoolClient,
  { traceIds, manualIds, subjectIds }: Dropped,
): Promise<void> {
  await client.query({
    name: "drop_copies_of_content",
    text: `with quoted as materialized (
        select unnest($1::uuid[]) as id
        union select u.trace_id from runs r join run_turns u on u.agent_id = r.agent_id and u.run_id = r.id
          where r.id = any ($2::uuid[]) and u.trace_id is not null
      ), calls as (
        update judge_calls set detail = $4 where id = any (array(
          select id from judge_calls where trace_id = any ($1::uuid[])
          union select id from judge_calls where run_id = any ($2::uuid[])
        ))
      ), answers as (
        delete from judge_answers where trace_id in (select id from quoted)
      ), asked as (
        update labels set question = null where trace_id in (select id from quoted) and question is not null
      ), tried as (
        update backtest_results set reason = $5
        where trace_id = any ($1::uuid[]) and change is not null and reason is not null
      ), places as (
        update erasure_matches set place = null where trace_id = any ($1::uuid[])
      ), waiting as (
        delete from waiting_records w using (
          select agent_id, external_id as otlp_trace_id from traces where id = any ($1::uuid[])
          union select agent_id, otlp_trace_id from trace_otlp_ids where trace_id = any ($1::uuid[])
        ) named
        where w.agent_id = named.agent_id and w.otlp_trace_id = named.otlp_trace_id
      )
      delete from content_deadlines d using (
        select agent_id, id from traces where id = any ($3::uuid[])
        union all select agent_id, id from runs where id = any ($3::uuid[])
      ) done
      where d.agent_id = done.agent_id and d.subject_id = done.id`,
    values: [traceIds, manualIds, subjectIds, noTexts, reasonText({ code: "content_not_stored" })],
  });
}
