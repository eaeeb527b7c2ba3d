// Chooses the index that a list of traces walks: one for a rare value, the minutes in which a value occurs, or all traces.

import { externalIdsOf } from "../../model/trace/external-ids.ts";
import type { Conditions } from "./conditions.ts";
import type { TraceFilters } from "./filters.ts";

/** `from`: rows in the order of `id`, the trace's, to be joined with `traces t` by `join`. */
export type Path = {
  from: string;
  id: string;
  join: string;
  where: string[];
  /** Conditions that need the run `r`. */
  also: string[];
  /** The name of `from` if the planner cannot read it in the order of the list. */
  unordered?: string;
};

/** One of the indexes for rare values of 004_rollups.sql, else undefined. */
export function rarePath(agentId: string, filters: TraceFilters, conditions: Conditions): Path | undefined {
  const {
    externalId,
    conversationId,
    userId,
    verdict,
    state,
    routing,
    outage,
    failed,
    httpStatus,
    kind,
    resultState,
  } = filters;
  const ofTest = filters.testId !== undefined && filters.testOutcome !== undefined;
  // Conditions are repeated literally so that the planner sees that the partial index applies.
  const traces = (value: unknown, condition: (parameter: string) => string): Path => ({
    ...{ from: "traces t", id: "t.id", join: "", also: [] },
    where: [
      `t.agent_id = ${conditions.parameter(agentId)}`,
      ...(value === undefined ? [] : [condition(conditions.parameter(value))]),
    ],
  });
  // Runs that a later run of the same trace replaced are excluded by `also`.
  const runs = (value: unknown, condition: (parameter: string) => string, from = "runs"): Path => ({
    ...{
      from: `${from} s`,
      id: "s.trace_id",
      join: "join traces t on t.id = s.trace_id",
      also: ["r.id = s.id"],
    },
    where: [`s.agent_id = ${conditions.parameter(agentId)}`, condition(conditions.parameter(value))],
  });
  if (externalId !== undefined) {
    const [sent, stored] = externalIdsOf(externalId);
    const named = (p: string) =>
      `(select n.trace_id from trace_identities n where n.agent_id = ${conditions.parameter(agentId)} and n.external_id = ${p})`;
    return traces(sent, p =>
      stored === undefined
        ? `t.id = ${named(p)}`
        : `t.id = coalesce(${named(p)}, ${named(conditions.parameter(stored))})`,
    );
  }
  if (conversationId !== undefined) return conversationPath(agentId, conversationId, conditions);
  if (userId !== undefined) return traces(userId, p => `t.user_id is not null and t.user_id = ${p}`);
  // Manual runs have no trace before they complete, so they are found by their turns.
  if (kind === "test_run") return traces(kind, p => `t.kind = 'test_run' and t.kind = ${p}`);
  if (state === "pending" || state === "running") return runs(state, p => `s.state = ${p}`, "queue");
  if (state === "waiting") {
    return runs("running", p => `s.state = ${p} and s.next_try_at is not null`, "queue");
  }
  if (state === "error") return runs(state, p => `s.state <> 'completed' and s.state = ${p}`);
  if (outage) return runs(outage, p => `s.outage_open and s.outage_open = ${p}`);
  if (routing === "unavailable" || routing === "no_user_input") {
    return runs(
      routing,
      p => `s.state = 'completed' and s.routing in ('no_user_input', 'unavailable') and s.routing = ${p}`,
    );
  }
  if (failed) return traces(failed, p => `t.failed and t.failed = ${p}`);
  if (httpStatus !== undefined && httpStatus !== 200) {
    return traces(httpStatus, p => `t.http_status <> 200 and t.http_status = ${p}`);
  }
  const { tool, model, provider, redacted } = filters;
  if ([tool, model, provider, redacted].some(value => value !== undefined) || ofTest) return undefined;
  if (resultState) return runs("failed", p => `s.state = 'completed' and s.verdict = ${p}`);
  if (verdict === "none") {
    return runs("completed", p => `s.verdict is null and s.state = 'completed' and s.state = ${p}`);
  }
  if (verdict) return runs(verdict, p => `s.state = 'completed' and s.verdict = ${p}`);
  return undefined;
}

/** The index has the turns in the order in which they began, so their ids are sorted; `offset 0` keeps the planner from another. */
function conversationPath(agentId: string, conversationId: string, conditions: Conditions): Path {
  return {
    from: `(
      select id from traces
      where agent_id = ${conditions.parameter(agentId)} and conversation_id is not null
        and conversation_id = ${conditions.parameter(conversationId)}
      offset 0
    ) turn`,
    ...{ id: "turn.id", join: "join traces t on t.id = turn.id", where: [], also: [], unordered: "turn" },
  };
}

/** All traces of the agent. */
export function plainPath(agentId: string, conditions: Conditions): Path {
  return {
    ...{ from: "traces t", id: "t.id", join: "", also: [] },
    where: [`t.agent_id = ${conditions.parameter(agentId)}`],
  };
}

/** The agent's traces between the ids in two lists, parameters 5 and 6, which are in this order. */
export function rangesPath(agentId: string, conditions: Conditions, order: Order): Path {
  const direction = order === "newest" ? "desc" : "asc";
  const bounds = withinBounds("id", order).join(" and ");
  return {
    from: `unnest($5::uuid[], $6::uuid[]) as span (low, high)
      cross join lateral (
        select * from traces
        where agent_id = ${conditions.parameter(agentId)} and id >= span.low and id < span.high and ${bounds}
        order by id ${direction}
      ) t`,
    ...{ id: "t.id", join: "", where: [], also: [], unordered: "t" },
  };
}

export type Order = "newest" | "oldest";

/** Ids between the bounds, of which `from` was the last one searched. */
export function withinBounds(id: string, order: Order): string[] {
  return order === "newest"
    ? [`${id} < $1::uuid`, `${id} >= $2::uuid`]
    : [`${id} > $1::uuid`, `${id} <= $2::uuid`];
}
