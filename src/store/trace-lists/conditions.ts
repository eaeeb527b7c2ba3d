// The conditions of a list of traces on the trace and on its run, as SQL with parameters.

import type { ResultState } from "../../model/run/run.ts";
import { hasOpenRun } from "../runs/of-traces.ts";
import { outcomeLetters } from "../runs/result-values.ts";
import type { TraceFilters } from "./filters.ts";

/** Conditions and the values of their parameters, which are numbered from `first`. */
export class Conditions {
  readonly #first: number;
  readonly values: unknown[] = [];
  readonly where: string[] = [];

  constructor(first: number) {
    this.#first = first;
  }

  parameter(value: unknown): string {
    this.values.push(value);
    return `$${this.#first + this.values.length - 1}`;
  }

  /** Adds the condition unless the value is undefined; `condition` gets the value's parameter. */
  add(value: unknown, condition: (parameter: string) => string): void {
    if (value !== undefined) this.where.push(condition(this.parameter(value)));
  }
}

/** On `traces t`. */
export function addTraceFilters(conditions: Conditions, filters: TraceFilters): void {
  conditions.add(filters.kind, p => `t.kind = ${p}`);
  conditions.add(filters.path, p => `t.path = ${p}`);
  // A trace that is asked for by its identity is found.
  if (!filters.noise && filters.externalId === undefined) conditions.where.push("t.noise is null");
  conditions.add(filters.failed, p => `t.failed = ${p}`);
  conditions.add(filters.httpStatus, p => `t.http_status = ${p}`);
  conditions.add(filters.tool, p => `${p}::text = any (t.tools)`);
  conditions.add(filters.model, p => `${p}::text = any (t.models)`);
  conditions.add(filters.provider, p => `${p}::text = any (t.providers)`);
  conditions.add(filters.redacted, p => `${p}::text = any (t.redacted)`);
  conditions.add(filters.conversationId, p => `t.conversation_id = ${p}`);
  conditions.add(filters.userId, p => `t.user_id = ${p}`);
  conditions.add(filters.receivedFrom, p => `t.received_at >= ${p}`);
  conditions.add(filters.receivedTo, p => `t.received_at < ${p}`);
  conditions.add(filters.durationMinMs, p => `t.duration_ms >= ${p}`);
  conditions.add(filters.durationMaxMs, p => `t.duration_ms <= ${p}`);
  // A trace without token counts matches no bounds.
  if (filters.tokensMin !== undefined || filters.tokensMax !== undefined) {
    conditions.where.push("(t.input_tokens is not null or t.output_tokens is not null)");
  }
  conditions.add(filters.tokensMin, p => `${tokensSql} >= ${p}`);
  conditions.add(filters.tokensMax, p => `${tokensSql} <= ${p}`);
  const pattern = filters.text && `%${filters.text.replace(/[\\%_]/g, "\\$&")}%`;
  conditions.add(pattern || undefined, p => {
    return `(t.name ilike ${p} or t.user_input ilike ${p} or t.response_text ilike ${p})`;
  });
}

const tokensSql = "coalesce(t.input_tokens, 0) + coalesce(t.output_tokens, 0)";

/** Null for a trace without token counts. */
export const totalTokensSql = `case when t.input_tokens is not null or t.output_tokens is not null then ${tokensSql} end`;

/** How many filters are set. */
export function countFilters(filters: TraceFilters): number {
  return Object.values(filters).filter(value => value !== undefined).length;
}

/** Whether the run of each trace is needed to filter. */
export function filtersRuns(filters: TraceFilters): boolean {
  const { state, verdict, routing, outage, fullyEvaluated, resultState, testId, testIds } = filters;
  return [state, verdict, routing, outage, fullyEvaluated, resultState, testId, testIds].some(
    value => value !== undefined,
  );
}

/** On the run `r` that the list shows. */
export function addRunFilters(conditions: Conditions, filters: TraceFilters): void {
  // Answered by an index alone, before the run itself is looked up.
  if (filters.state === "none")
    conditions.where.push(`(select judged.id from runs judged where judged.trace_id = t.id limit 1) is null
      and not ${hasOpenRun("t.agent_id", "t.id")}
      and (t.kind <> 'test_run' or not exists (
        select from run_turns u where u.agent_id = t.agent_id and u.trace_id = t.id
      ))`);
  else if (filters.state === "waiting")
    conditions.where.push(`r.state = 'running' and r."nextTryAt" is not null`);
  else conditions.add(filters.state, p => `r.state = ${p}`);
  if (filters.verdict === "none") conditions.where.push("r.state = 'completed' and r.verdict is null");
  else conditions.add(filters.verdict, p => `r.verdict = ${p}`);
  conditions.add(filters.routing, p => `r.routing = ${p}`);
  conditions.add(filters.outage, p => `coalesce(r.outage, false) = ${p}`);
  if (filters.testId === undefined) {
    conditions.add(filters.fullyEvaluated, p => `r.state = 'completed' and r."fullyEvaluated" = ${p}`);
  }
  addResultState(conditions, filters.resultState);
  addTest(conditions, filters);
  conditions.add(filters.testIds, p => `${p}::uuid[] && r.test_ids`);
}

function addTest(
  conditions: Conditions,
  { testId, testOutcome, testVersion, fullyEvaluated }: TraceFilters,
): void {
  if (testId === undefined) return;
  const test = `${conditions.parameter(testId)}::uuid`;
  conditions.where.push(`${test} = any (r.test_ids)`);
  const place = `array_position(r.test_ids, ${test})`;
  const letter = `substr(r.test_outcomes, ${place}, 1)`;
  conditions.add(testOutcome && outcomeLetters[testOutcome], p => `lower(${letter}) = ${p}`);
  conditions.add(fullyEvaluated, p => `(${letter} = lower(${letter})) = ${p}`);
  conditions.add(testVersion, p => `r.test_versions[${place}] = ${p}`);
}

/** Open: some failed test that still exists has no other state. */
function addResultState(conditions: Conditions, resultState: ResultState | undefined): void {
  if (resultState === undefined) return;
  const failed = 'r."failedTestIds"';
  const given = `select from result_states rs where rs.agent_id = t.agent_id and rs.trace_id = r."traceId"`;
  conditions.where.push("r.verdict = 'failed'");
  if (resultState === "open") {
    // Compared outside of a subquery, so that each test is found by its id, whatever the planner knows of the table.
    conditions.where.push(`exists (select from unnest(${failed}) as f (id)
      where (select c.id from test_cases c where c.id = f.id) is not null
        and not exists (${given} and rs.test_id = f.id and rs.state <> 'open'))`);
  } else {
    conditions.add(
      resultState,
      p => `exists (${given} and rs.test_id = any (${failed}) and rs.state = ${p})`,
    );
  }
}
