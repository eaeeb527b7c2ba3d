// Adds completed runs to the hourly rollups of their agents, models, tests and checks, and to the counts by version of a test.

import type pg from "pg";
import { count, type Histogram } from "../../model/run/histogram.ts";
import type { Counts, Outcome, Tally } from "../../model/run/outcome.ts";
import type { Verdict } from "../../model/run/run.ts";
import { keyName, storable } from "../../model/trace/storable.ts";
import type { ModelUsage } from "../../reading/derived/usage.ts";
import type { TestChanges } from "./asked-for.ts";
import type { Outcomes } from "./completed-run.ts";
import type { TraceCounts } from "./detail.ts";
import { countedAs, entry, nothing, testsOf } from "./test-counts.ts";

/** A run that was just completed. */
export type CountedRun = {
  agentId: string;
  /** The hour in which the run was created: its tests and checks count there. */
  hour: Date;
  /** The hour in which its trace was received: its verdict counts there. */
  traceHour: Date;
  /** Whether no later run of the trace has completed: by agent and model, only the latest of a trace counts. */
  isLatest: boolean;
  /** What the trace counted before. */
  replaces: (Pick<Verdict, "verdict" | "routing" | "fullyEvaluated"> & { counts: TraceCounts }) | null;
  verdict: Outcomes;
} & TraceCounts &
  TestChanges;

type AgentHour = Tally & {
  agent_id: string;
  hour: Date;
  runs: number;
  routing_unavailable: number;
  input_tokens: number;
  output_tokens: number;
  durations: Histogram;
};
type ModelHour = {
  agent_id: string;
  hour: Date;
  provider: string;
  model: string;
  prompt_above: number;
} & Record<(typeof modelCounts)[number], number>;
/** `ran`: false if an earlier run is only taken back, or added again. */
type TestHour = Tally & {
  agent_id: string;
  test_id: string;
  hour: Date;
  last_outcome: Outcome;
  last_fully_evaluated: boolean;
  ran: boolean;
};
type TestVersion = Tally & { agent_id: string; test_id: string; version: number; ran: boolean };
type CheckHour = Counts & {
  agent_id: string;
  test_id: string;
  check_id: string;
  hour: Date;
  version: number;
};

// Deleted agents and tests are not counted; the others are locked until the commit. Each lateral lookup uses the primary
// key, whatever the statistics of the table.
const outcomes = ["passed", "failed", "skipped", "missing_instrumentation"] as const;
// Checks are counted by their own outcomes.
const tally = [...outcomes, "not_fully_evaluated"] as const;
const typed = (columns: readonly string[]) => columns.map(column => `${column} int`).join(", ");
const added = (table: string, columns: readonly string[] = tally) =>
  columns.map(column => `${column} = ${table}.${column} + excluded.${column}`).join(", ");
const ranAt = "case when ran then now() else '-infinity' end";
const ifRan = (table: string, column: string) =>
  `${column} = case when excluded.last_run_at = '-infinity' then ${table}.${column} else excluded.${column} end`;
const modelCounts = [
  "calls",
  "unmeasured",
  "input_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "output_tokens",
] as const;
const statement = `
with agent as (
  insert into agent_hours (agent_id, hour, runs, ${tally}, routing_unavailable, input_tokens, output_tokens,
    durations)
  select agent_id, hour, runs, ${tally}, routing_unavailable, input_tokens, output_tokens, durations
  from json_to_recordset($1) as item (agent_id uuid, hour timestamptz, runs int, ${typed(tally)},
      routing_unavailable int, input_tokens bigint, output_tokens bigint, durations int[])
    cross join lateral (select from agents where id = item.agent_id for key share) as counted
  on conflict (agent_id, hour) do update set durations = add_each(agent_hours.durations, excluded.durations),
    ${added("agent_hours", ["runs", ...tally, "routing_unavailable", "input_tokens", "output_tokens"])}
), test as (
  insert into test_hours (agent_id, test_id, hour, ${tally}, last_run_at, last_outcome, last_fully_evaluated)
  select agent_id, test_id, hour, ${tally}, ${ranAt}, last_outcome, last_fully_evaluated
  from json_to_recordset($2) as item (agent_id uuid, test_id uuid, hour timestamptz, ${typed(tally)}, last_outcome text,
      last_fully_evaluated bool, ran bool)
    cross join lateral (select from test_cases where id = item.test_id for key share) as counted
  on conflict (agent_id, test_id, hour) do update set ${ifRan("test_hours", "last_run_at")},
    ${ifRan("test_hours", "last_outcome")}, ${ifRan("test_hours", "last_fully_evaluated")}, ${added("test_hours")}
), model as (
  insert into model_hours (agent_id, hour, provider, model, prompt_above, ${modelCounts})
  select agent_id, hour, provider, model, prompt_above, ${modelCounts}
  from json_to_recordset($5) as item (agent_id uuid, hour timestamptz, provider text, model text, prompt_above int,
      ${modelCounts.map(name => `${name} bigint`).join(", ")})
    cross join lateral (select from agents where id = item.agent_id for key share) as counted
  on conflict (agent_id, hour, provider, model, prompt_above) do update set ${added("model_hours", modelCounts)}
), version as (
  insert into test_versions (agent_id, test_id, version, ${tally}, first_run_at, last_run_at)
  select agent_id, test_id, version, ${tally}, now(), ${ranAt}
  from json_to_recordset($4) as item (agent_id uuid, test_id uuid, version int, ${typed(tally)}, ran bool)
    cross join lateral (select from test_cases where id = item.test_id for key share) as counted
  on conflict (agent_id, test_id, version) do update set ${ifRan("test_versions", "last_run_at")},
    ${added("test_versions")}
)
insert into check_hours (agent_id, test_id, check_id, hour, version, ${outcomes})
select agent_id, test_id, check_id, hour, version, ${outcomes}
from json_to_recordset($3)
    as item (agent_id uuid, test_id uuid, check_id text, hour timestamptz, version int, ${typed(outcomes)})
  cross join lateral (select from test_cases where id = item.test_id for key share) as counted
on conflict (agent_id, test_id, check_id, hour, version) do update set ${added("check_hours", outcomes)}`;

/** Call it last in the transaction that completes the runs: others that count in the same hour wait for its commit. */
export async function addRollups(client: pg.PoolClient, runs: CountedRun[]): Promise<void> {
  const agents = new Map<string, AgentHour>();
  const tests = new Map<string, TestHour>();
  const checks = new Map<string, CheckHour>();
  const versions = new Map<string, TestVersion>();
  const models = new Map<string, ModelHour>();
  for (const run of runs) {
    if (run.isLatest) {
      const { replaces } = run;
      addVerdict(agentHour(agents, run), run.verdict, 1);
      addCounts(agents, models, run, run, 1);
      if (!replaces) continue;
      addVerdict(agentHour(agents, run), replaces, -1);
      addCounts(agents, models, run, replaces.counts, -1);
    }
  }
  for (const one of testsOf(runs)) {
    const { agentId: agent_id, hour, testId: test_id } = one;
    const key = `${test_id} ${hour.getTime()}`;
    const { counts, lastOutcome: last_outcome, lastFullyEvaluated: last_fully_evaluated, ran } = one;
    tests.set(key, { ...counts, agent_id, test_id, hour, last_outcome, last_fully_evaluated, ran });
    for (const [version, { ran, ...counts }] of one.versions) {
      const row = entry(versions, `${test_id} ${version}`, () => ({
        ...{ ...nothing, agent_id, test_id, version, ran },
      }));
      for (const kind of tally) row[kind] += counts[kind];
      row.ran ||= ran;
    }
    for (const [version, counted] of one.checks) {
      for (const [id, counts] of counted) {
        const check_id = storable(id);
        const row = entry(checks, `${key} ${version} ${check_id}`, () => ({
          ...{ ...nothing, agent_id, test_id, check_id, hour, version },
        }));
        for (const outcome of outcomes) row[outcome] += counts[outcome];
      }
    }
  }
  await client.query({
    name: "add_rollups",
    text: statement,
    values: [agents, tests, checks, versions, models].map(rows => JSON.stringify(inOrder<object>(rows))),
  });
}

type OfTrace = Pick<CountedRun, "agentId" | "traceHour">;

function agentHour(agents: Map<string, AgentHour>, { agentId, traceHour: hour }: OfTrace): AgentHour {
  return entry(agents, `${agentId} ${hour.getTime()}`, () => ({
    ...nothing,
    agent_id: agentId,
    hour,
    runs: 0,
    routing_unavailable: 0,
    input_tokens: 0,
    output_tokens: 0,
    durations: [],
  }));
}

/** Adds what a trace used and how long it took, or takes it back. */
function addCounts(
  agents: Map<string, AgentHour>,
  models: Map<string, ModelHour>,
  of: OfTrace,
  { durationMs, tokens, usage }: TraceCounts,
  by: 1 | -1,
): void {
  const agent = agentHour(agents, of);
  agent.input_tokens += by * countable(tokens.input);
  agent.output_tokens += by * countable(tokens.output);
  if (durationMs !== null) count(agent.durations, durationMs, by);
  for (const one of usage) {
    const hour = modelHour(models, of, one);
    hour.calls += by * one.calls;
    hour.unmeasured += by * one.unmeasured;
    hour.input_tokens += by * countable(one.inputTokens);
    hour.cached_tokens += by * countable(one.cachedTokens);
    hour.cache_write_tokens += by * countable(one.cacheWriteTokens);
    hour.output_tokens += by * countable(one.outputTokens);
  }
}

function modelHour(
  models: Map<string, ModelHour>,
  { agentId, traceHour: hour }: OfTrace,
  { provider, model, promptAbove }: ModelUsage,
): ModelHour {
  const names = {
    provider: keyName(provider ?? ""),
    model: keyName(model ?? ""),
    prompt_above: promptAbove,
  };
  const key = `${agentId} ${hour.getTime()} ${names.provider}\n${names.model}\n${promptAbove}`;
  return entry(models, key, () => ({
    agent_id: agentId,
    hour,
    ...names,
    calls: 0,
    unmeasured: 0,
    input_tokens: 0,
    cached_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 0,
  }));
}

function addVerdict(
  agent: AgentHour,
  { verdict, routing, fullyEvaluated }: Pick<Verdict, "verdict" | "routing" | "fullyEvaluated">,
  by: 1 | -1,
): void {
  agent.runs += by;
  if (verdict) agent[countedAs(verdict, fullyEvaluated)] += by;
  else if (!fullyEvaluated) agent.not_fully_evaluated += by;
  if (routing === "unavailable") agent.routing_unavailable += by;
}

// Senders may report any number; absurd ones must not overflow the column.
const tokensMax = 1e9;

function countable(tokens: number | null): number {
  return Math.min(Math.max(Math.round(tokens ?? 0), 0), tokensMax);
}

/** Sorted by key, descending like the locks of `updateTestCases`, so that concurrent transactions never deadlock. */
function inOrder<T>(rows: Map<string, T>): T[] {
  return [...rows].sort(([one], [other]) => (one < other ? 1 : -1)).map(([, row]) => row);
}
