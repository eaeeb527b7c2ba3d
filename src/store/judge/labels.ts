// Labels that people give to the judge's answers: saved, listed, and read with what the judge was asked.

import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { JudgedAnswer, LabelAnswer, LabelJudge, LabelQuestion } from "../../model/judge/label.ts";
import { placeOf } from "../cluster/routing.ts";
import { rowsOfAgents } from "../cluster/rows-of-agents.ts";
import type { Database } from "../db.ts";
import type { Listing } from "../listing.ts";
import { newId } from "../new-id.ts";
import { bound } from "../parameters/bound.ts";

export type Person = { id: string; name: string };

export type LabelRow = {
  id: string;
  agentId: string;
  testId: string;
  traceId: string;
  runId: string;
  /** Null: the scenario match. */
  checkId: string | null;
  judged: JudgedAnswer;
  answer: LabelAnswer;
  /** Null: the judge could not decide. */
  agrees: boolean | null;
  note: string;
  testVersion: number | null;
  /** Null: the account was deleted. */
  createdBy: Person | null;
  /** Whether somebody else labels the same answer differently. */
  disputed: boolean;
  /** Whether the judge can be asked the same again. */
  repeatable: boolean;
  createdAt: Date;
  updatedAt: Date;
} & LabelJudge;

/** `testName` and `userInput` as they are now; the input is shortened. */
export type ListedLabel = LabelRow & {
  testName: string;
  userInput: string | null;
};

export type NewLabel = Omit<
  LabelRow,
  "id" | "repeatable" | "disputed" | "createdBy" | "createdAt" | "updatedAt"
> & {
  question: LabelQuestion | null;
  /** The same for all traces that this answer of the judge is about; absent or null: it is about this run alone. */
  answerKey?: string | null;
  createdBy: string;
};

/** Whether labels `l` and `o` are about the same answer: the cache gives one to every trace that asks the same. */
export const sameAnswer = `o.agent_id = l.agent_id and o.test_id = l.test_id and o.answer_key = l.answer_key
  and o.judged = l.judged and o.test_version is not distinct from l.test_version
  and o.check_id is not distinct from l.check_id and o.provider is not distinct from l.provider
  and o.model = l.model and o.prompt_version = l.prompt_version`;

const disputed = `exists (
    select from labels o where ${sameAnswer} and o.created_by is distinct from l.created_by and o.answer <> l.answer
  )`;

const columns = `l.id, l.agent_id as "agentId", l.test_id as "testId", l.trace_id as "traceId", l.run_id as "runId",
  l.check_id as "checkId", l.judged, l.answer, l.agrees, l.note, l.test_version as "testVersion", l.provider, l.model,
  l.prompt_version as "promptVersion", l.question is not null as repeatable, l.created_at as "createdAt",
  l.updated_at as "updatedAt", m.id as "makerId", m.name as "makerName", ${disputed} as disputed`;

const labelsWithPeople = "labels l left join accounts m on m.id = l.created_by";

type StoredLabel = Omit<LabelRow, "createdBy"> & { makerId: string | null; makerName: string | null };

function labelOf<Row extends StoredLabel>({ makerId, makerName, ...row }: Row) {
  return { ...row, createdBy: makerId === null ? null : { id: makerId, name: makerName ?? "" } };
}

/** Changes this person's label if there is one. Undefined if the trace, the run or the test was deleted. */
export async function saveLabel(db: Database, label: NewLabel): Promise<LabelRow | undefined> {
  const { pool } = await placeOf(db, label.agentId);
  const { agentId, testId, traceId, runId, judged, answer, agrees, note, provider, model } = label;
  const row = {
    ...{ id: newId(), agent_id: agentId, test_id: testId, trace_id: traceId, run_id: runId },
    ...{ check_id: label.checkId, judged, answer, agrees, note, test_version: label.testVersion },
    ...{ provider, model, prompt_version: label.promptVersion, answer_key: label.answerKey ?? runId },
    created_by: label.createdBy,
  };
  const question = label.question && zstdCompressSync(JSON.stringify(label.question));
  const { rows } = await pool.query<{ id: string }>({
    name: "save-label",
    ...bound(
      row,
      at => `with known as (
          select t.content is not distinct from 'forgotten' as is_forgotten from traces t
          join test_cases c on c.id = ${at.test_id} and c.agent_id = t.agent_id
          where t.id = ${at.trace_id} and t.agent_id = ${at.agent_id} and (
            exists (select from runs r where r.agent_id = t.agent_id and r.id = ${at.run_id} and r.trace_id = t.id)
            or exists (select from queue q where q.agent_id = t.agent_id and q.id = ${at.run_id} and q.trace_id = t.id)
          ) for key share of t, c
        )
        insert into labels as l (${Object.keys(at)}, question)
          select ${Object.values(at)}, case when not is_forgotten then $1::bytea end from known
        on conflict (agent_id, run_id, test_id, check_id, created_by) do update set answer = excluded.answer,
          agrees = excluded.agrees, note = excluded.note, question = coalesce(l.question, excluded.question),
          updated_at = now()
        returning l.id`,
      [question],
    ),
  });
  if (!rows[0]) return undefined;
  const saved = await pool.query<StoredLabel>({
    name: "label",
    text: `select ${columns} from ${labelsWithPeople} where l.agent_id = $1 and l.id = $2`,
    values: [label.agentId, rows[0].id],
  });
  return saved.rows[0] && labelOf(saved.rows[0]);
}

export async function deleteLabel(db: Database, id: string): Promise<void> {
  await db.pool.query("delete from labels where id = $1", [id]);
}

export async function listLabelsOfRun(db: Database, runId: string): Promise<LabelRow[]> {
  const { rows } = await db.pool.query<StoredLabel>({
    name: "labels-of-run",
    text: `select ${columns} from ${labelsWithPeople} where l.run_id = $1 order by l.id`,
    values: [runId],
  });
  return rows.map(labelOf);
}

/** Absent: any. */
export type LabelFilters = {
  projectId: string;
  agentId?: string | undefined;
  testId?: string | undefined;
  agrees?: boolean | undefined;
  disputed?: boolean | undefined;
  /** Those that the judge can be asked again, of each answer the newest. */
  askable?: true;
};

export const filtered = `a.project_id = $1 and ($2::uuid is null or l.agent_id = $2) and ($3::uuid is null or l.test_id = $3)`;

export function valuesOf({ projectId, agentId, testId }: LabelFilters): unknown[] {
  return [projectId, agentId ?? null, testId ?? null];
}

/** The agents whose labels these filters may find. */
export function agentsOf({ projectId, agentId, testId }: LabelFilters) {
  return {
    name: "agents-of-labels",
    text: `select id as "agentId", name from agents where project_id = $1 and ($2::uuid is null or id = $2)
      and ($3::uuid is null or id = (select agent_id from test_cases where id = $3))`,
    values: [projectId, agentId ?? null, testId ?? null],
  };
}

const inputMax = 500;

/** Newest first. */
export async function listLabels(
  db: Database,
  filters: LabelFilters,
  { before, rowsMax }: Listing,
): Promise<ListedLabel[]> {
  type Row = StoredLabel & Pick<ListedLabel, "testName" | "userInput">;
  const rows = await rowsOfAgents<Row>(db, agentsOf(filters), {
    name: "labels",
    text: `select ${columns}, c.name as "testName", left(t.user_input, ${inputMax}) as "userInput"
      from ${labelsWithPeople} join agents a on a.id = l.agent_id join test_cases c on c.id = l.test_id
      join traces t on t.agent_id = l.agent_id and t.id = l.trace_id
      where ${filtered} and l.id < $4 and ($6::boolean is null or l.agrees = $6)
        and ($7::boolean is null or ${disputed} = $7) and (not $8::boolean or l.question is not null and not exists (
          select from labels o where ${sameAnswer} and o.question is not null and o.id > l.id
        ))
      order by l.id desc limit $5`,
    values: [
      ...[...valuesOf(filters), before, rowsMax, filters.agrees ?? null, filters.disputed ?? null],
      filters.askable === true,
    ],
  });
  rows.sort((one, other) => (one.id < other.id ? 1 : -1));
  return rows.slice(0, rowsMax).map(labelOf);
}

export type LabelWithQuestion = ListedLabel & { question: LabelQuestion };

/** `question` null: it, or the label, was deleted while the labels were read. */
export type ReadLabel = LabelWithQuestion | (ListedLabel & { question: null });

/** Those that can be asked again, newest first, one for each answer. Decompresses one at a time: a question quotes a conversation. */
export async function* readQuestions(
  db: Database,
  filters: LabelFilters,
  { before, rowsMax }: Listing,
): AsyncGenerator<ReadLabel> {
  const listed = await listLabels(db, { ...filters, askable: true }, { before, rowsMax });
  for (const label of listed) {
    const { rows } = await (await placeOf(db, label.agentId)).pool.query<{ question: Buffer }>({
      name: "label-question",
      text: "select question from labels where agent_id = $1 and id = $2 and question is not null",
      values: [label.agentId, label.id],
    });
    const question =
      rows[0] && (JSON.parse(zstdDecompressSync(rows[0].question).toString()) as LabelQuestion);
    yield { ...label, question: question ?? null };
  }
}

/** The judge of the run's calls: the results of undecided checks do not say it. */
export async function findJudgeOfRun(db: Database, runId: string): Promise<LabelJudge | undefined> {
  const { rows } = await db.pool.query<LabelJudge>({
    name: "judge-of-run",
    text: `select provider, model, prompt_version as "promptVersion" from judge_calls
      where run_id = $1 order by kind = 'semantic' desc, started_at desc limit 1`,
    values: [runId],
  });
  return rows[0];
}
