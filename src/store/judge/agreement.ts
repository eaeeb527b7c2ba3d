// Counts what people say about the judge's answers, and reads the live pass rates of the checks that they labeled.
import type { CountedAnswers, LabelJudge } from "../../model/judge/label.ts";
import { rowsOfAgents } from "../cluster/rows-of-agents.ts";
import type { Database } from "../db.ts";
import { agentsOf, filtered, type LabelFilters, valuesOf } from "./labels.ts";

type OfCheck = {
  agentId: string;
  testId: string;
  testVersion: number | null;
  /** Null: the scenario match. */
  checkId: string | null;
};

/** Of each test version, check and judge, the latest first. */
export type CountedLabels = CountedAnswers & OfCheck & LabelJudge & { testName: string; latestAt: Date };

const entry = `agent_id, test_id, test_version, check_id, provider, model, prompt_version, judged`;
const entryOfLabel = entry.replaceAll(/\w+/g, "l.$&");

/** Each answer counts once, whichever traces it is about, by the majority of the people, of whom each has one say. */
export async function countLabels(db: Database, filters: LabelFilters): Promise<CountedLabels[]> {
  const rows = await rowsOfAgents<CountedLabels>(db, agentsOf(filters), {
    name: "count-labels",
    text: `select agent_id as "agentId", test_id as "testId", test_name as "testName", test_version as "testVersion",
        check_id as "checkId", provider, model, prompt_version as "promptVersion", judged,
        case when good > bad then case when check_id is null then 'match' else 'pass' end
          when bad > good then case when check_id is null then 'no_match' else 'fail' end end as answer,
        count(*)::int as count, count(*) filter (where good > 0 and bad > 0)::int as disputed, max(latest_at) as "latestAt"
      from (
        select ${entry}, test_name, max(created_at) as latest_at,
          count(*) filter (where answer in ('pass', 'match')) as good,
          count(*) filter (where answer in ('fail', 'no_match')) as bad
        from (
          select distinct on (${entryOfLabel}, l.answer_key, l.created_by) ${entryOfLabel}, l.answer_key, c.name as test_name,
            l.answer, l.created_at
          from labels l join agents a on a.id = l.agent_id join test_cases c on c.id = l.test_id
          where ${filtered}
          order by ${entryOfLabel}, l.answer_key, l.created_by, l.updated_at desc, l.id desc
        ) said
        group by ${entry}, test_name, answer_key
      ) answers
      group by ${entry}, test_name, answer
      order by "latestAt" desc`,
    values: valuesOf(filters),
  });
  return rows.sort((one, other) => other.latestAt.getTime() - one.latestAt.getTime());
}

export type LiveCounts = OfCheck & { passed: number; failed: number };

/** Of each labeled check and version, on live traffic; `to` is exclusive. */
export async function countLive(
  db: Database,
  filters: LabelFilters,
  { from, to }: { from: Date; to: Date },
): Promise<LiveCounts[]> {
  return rowsOfAgents<LiveCounts>(db, agentsOf(filters), {
    name: "live-counts-of-labeled",
    text: `select h.agent_id as "agentId", h.test_id as "testId", h.version as "testVersion", h.check_id as "checkId",
        sum(h.passed)::int as passed, sum(h.failed)::int as failed
      from (
        select distinct l.agent_id, l.test_id, l.check_id, l.test_version from labels l join agents a on a.id = l.agent_id
        where ${filtered} and l.check_id is not null and l.test_version is not null
      ) labeled
      join check_hours h on h.agent_id = labeled.agent_id and h.test_id = labeled.test_id and h.check_id = labeled.check_id
        and h.version = labeled.test_version
      where h.hour >= $4 and h.hour < $5
      group by h.agent_id, h.test_id, h.version, h.check_id`,
    values: [...valuesOf(filters), from, to],
  });
}
