// Where the failed results of a trace stand: open, known or resolved, with a note.
import type { ResultState } from "../../model/run/run.ts";
import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";

export type ResultStateRow = { testId: string; state: ResultState; note: string; updatedAt: Date };

const columns = `test_id as "testId", state, note, updated_at as "updatedAt"`;

/** Only those that were set. */
export async function listResultStates(db: Database, traceId: string): Promise<ResultStateRow[]> {
  const { rows } = await db.pool.query<ResultStateRow>({
    name: "result-states",
    text: `select ${columns} from result_states where trace_id = $1 order by test_id`,
    values: [traceId],
  });
  return rows;
}

export type NewResultState = {
  agentId: string;
  traceId: string;
  testId: string;
  state: ResultState;
  note: string;
  updatedBy: string;
};

/** Undefined if the trace or the test was deleted. */
export async function saveResultState(
  db: Database,
  { agentId, traceId, testId, state, note, updatedBy }: NewResultState,
): Promise<ResultStateRow | undefined> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<ResultStateRow>(
    `with known as (
        select t.id from traces t join test_cases c on c.id = $3 and c.agent_id = t.agent_id
        where t.id = $2 and t.agent_id = $1 for key share of t, c
      )
      insert into result_states (agent_id, trace_id, test_id, state, note, updated_by)
        select $1, $2, $3, $4, $5, $6 from known
      on conflict (agent_id, trace_id, test_id) do update set state = excluded.state, note = excluded.note,
        updated_by = excluded.updated_by, updated_at = now()
      returning ${columns}`,
    [agentId, traceId, testId, state, note, updatedBy],
  );
  return rows[0];
}
