// Deletion of traces: what refers to them goes with them, and what refers to another one between them stays.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { placeOf } from "../../../src/store/cluster/routing.ts";
import { deleteTraces } from "../../../src/store/traces/read.ts";
import { expireTraces, saveRetention } from "../../../src/store/traces/retention.ts";
import { storeTrace } from "../../support/stored-traces.ts";
import { makeSender, makeTestCase, openTwice } from "./make-write.ts";

const { db, close } = await openTwice();
after(close);

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

type About = { agentId: string; projectId: string; testId: string; backtestId: string; traceId: string };

/** By table, as SQL: rows about a trace, whose external ID is its ID. */
function rowsAbout({ agentId, projectId, testId, backtestId, traceId }: About): Record<string, string> {
  const [agent, project, testCase, backtest, trace, id] = [
    agentId,
    projectId,
    testId,
    backtestId,
    traceId,
    randomUUID(),
  ].map(value => `'${value}'`);
  const record = `${id}, ${id}, '', '', 1, '', false, false, '{}'`;
  return {
    trace_otlp_ids: `(agent_id, trace_id, otlp_trace_id) values (${agent}, ${trace}, 'otlp ' || ${trace})`,
    waiting_records: `(agent_id, otlp_trace_id, id, key_id, span_key, record_keys, raw_length, records, has_input, has_reply, tools)
      values (${agent}, ${trace}, ${record}), (${agent}, 'otlp ' || ${trace}, ${record})`,
    judge_calls: `(id, agent_id, trace_id, started_at, kind, provider, model, prompt_version, mode, state, ms, input_tokens,
      output_tokens, detail)
      values (${id}, ${agent}, ${trace}, now(), 'route', 'p', 'm', '1', 'text', 'ok', 1, 1, 1, '')`,
    judge_answers: `(agent_id, key, project_id, trace_id, answer)
      values (${agent}, uuid_send(${id}), ${project}, ${trace}, '{}')`,
    labels: `(id, agent_id, test_id, trace_id, run_id, judged, answer, agrees, note, model, prompt_version)
      values (${id}, ${agent}, ${testCase}, ${trace}, ${id}, 'pass', 'pass', true, '', 'm', '1')`,
    result_states: `(agent_id, trace_id, test_id, state, note) values (${agent}, ${trace}, ${testCase}, 'open', '')`,
    queue: `(id, trace_id, agent_id, due_at) values (${id}, ${trace}, ${agent}, now())`,
    runs: `(id, trace_id, agent_id, kind, state, due_at)
      values (${id}, ${trace}, ${agent}, 'passive', 'completed', now())`,
    run_turns: `(agent_id, run_id, turn, trace_id, document) values (${agent}, ${id}, 1, ${trace}, '{}')`,
    backtest_results: `(agent_id, backtest_id, trace_id) values (${agent}, ${backtest}, ${trace})`,
    erasure_matches: `(agent_id, erasure_id, trace_id) values (${agent}, ${id}, ${trace})`,
    content_deadlines: `(agent_id, subject_id, after_s, check_at) values (${agent}, ${trace}, 1, now())`,
  };
}

/** Where the trace is not in `trace_id`. */
const named: Record<string, string> = { content_deadlines: "subject_id", waiting_records: "otlp_trace_id" };

for (const isOver of [false, true]) {
  test(`what refers to a trace goes with it${isOver ? " when its time is over" : ""}, in every table, and nothing else`, async () => {
    const { agentId, projectId } = await makeSender(db, { judged: false });
    const { pool } = await placeOf(db, agentId);
    const { id: testId } = await makeTestCase(db, agentId);
    const backtestId = randomUUID();
    await pool.query(
      `insert into backtests (id, agent_id, test, judged, state, lease_until)
       values ($2, $1, '{}', false, 'completed', now())`,
      [agentId, backtestId],
    );
    const ids: string[] = [];
    for (const age of [12, 11, 10]) {
      const traceId = await storeTrace(db, agentId, { receivedAt: daysAgo(age) });
      await pool.query("update traces set external_id = id where id = $1", [traceId]);
      for (const [table, row] of Object.entries(
        rowsAbout({ agentId, projectId, testId, backtestId, traceId }),
      ))
        await pool.query(`insert into ${table} ${row}`);
      ids.push(traceId);
    }
    const [first, between, last] = ids as [string, string, string];
    if (isOver) {
      await saveRetention(db, projectId, 5);
      // By a wrong clock: it is not over.
      await pool.query("update traces set received_at = now() where id = $1", [between]);
      assert.equal(await expireTraces(db, agentId, { serverDays: null, tracesMax: 9 }), 2);
    } else assert.equal((await deleteTraces(db, agentId, [first, last])).length, 2);
    const tables = Object.keys(rowsAbout({ agentId, projectId, testId, backtestId, traceId: between }));
    for (const table of tables) {
      const { rows } = await pool.query<{ about: string }>(
        `select distinct right(${named[table] ?? "trace_id"}::text, 36) as about from ${table} where agent_id = $1`,
        [agentId],
      );
      assert.deepEqual(rows, [{ about: between }], table);
    }
  });
}
