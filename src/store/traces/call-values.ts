// Tools, models, providers and rules that redacted, by the minute in which their traces arrived: added with the traces, deleted with the last.
import type pg from "pg";
import type { TraceColumns } from "../../reading/derived/columns.ts";
import type { Session } from "../db.ts";
import { minuteOfId } from "../listing.ts";
import { multiRow } from "../parameters/multi-row.ts";

/** What a trace calls, and what was redacted in it. */
export type Calls = {
  agentId: string;
  traceId: string;
  columns: Pick<TraceColumns, "tools" | "models" | "providers" | "redacted">;
};

/** A set of values that several traces have in common. */
type Value = {
  set: number;
  agentId: string;
  minute: number;
  kind: "tool" | "model" | "provider" | "redacted";
  value: string;
};

export const valueColumns = {
  set: ["int", ({ set }: Value) => set],
  agent_id: ["uuid", ({ agentId }: Value) => agentId],
  minute: ["bigint", ({ minute }: Value) => minute],
  kind: ["text", ({ kind }: Value) => kind],
  value: ["text", ({ value }: Value) => value],
} as const;

/** Each set of values once, since most traces call the same, and the set of each trace. In the order of locks. */
export function setsOf(traces: readonly Calls[]): { sets: number[]; values: Value[] } {
  const known = new Map<string, number>();
  const values: Value[] = [];
  const sets = traces.map(({ agentId, traceId, columns: { tools, models, providers, redacted } }) => {
    const minute = minuteOfId(traceId);
    const lists = [tools, models, providers, redacted];
    const key = `${agentId} ${minute} ${lists.map(list => list.join("\n")).join("\n\n")}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const set = known.size;
    known.set(key, set);
    for (const value of models) values.push({ set, agentId, minute, kind: "model", value });
    for (const value of providers) values.push({ set, agentId, minute, kind: "provider", value });
    for (const value of redacted) values.push({ set, agentId, minute, kind: "redacted", value });
    for (const value of tools) values.push({ set, agentId, minute, kind: "tool", value });
    return set;
  });
  return { sets, values: values.sort(compare) };
}

function compare(a: Value, b: Value): number {
  if (a.agentId !== b.agentId) return a.agentId < b.agentId ? -1 : 1;
  if (a.minute !== b.minute) return a.minute - b.minute;
  if (a.kind !== b.kind) return a.kind < b.kind ? -1 : 1;
  return a.value < b.value ? -1 : 1;
}

/** Adds the values of rows `item` with `valueColumns`; for a `from` that is in the order of locks. */
export const addValues = `select add_trace_values(array_agg(item.agent_id), array_agg(item.kind), array_agg(item.value),
  array_agg(item.minute))`;

const added = multiRow(1, valueColumns);

/** Adds the tools, models, providers and rules of traces, in the transaction that stores them. */
export async function addCalls(client: pg.PoolClient, traces: readonly Calls[]): Promise<void> {
  const { values } = setsOf(traces);
  if (values.length === 0) return;
  await client.query({
    name: "add_calls",
    text: `${addValues} from ${added.from}`,
    values: added.values(values),
  });
}

/**
 * Adds and deletes the values of traces whose rows were updated in this transaction. `keeps`: whether the row lost none. Deletes
 * first: a transaction that shares locks on values, and then deletes some, deadlocks with another that does the same.
 */
export async function replaceCalls(
  client: pg.PoolClient,
  traces: readonly (Calls & { keeps: boolean })[],
): Promise<void> {
  if (traces.some(({ keeps }) => !keeps)) await deleteUnusedCalls(client, traces);
  await addCalls(client, traces);
}

const freed = multiRow<{ agentId: string; minute: number }>(1, {
  agent_id: ["uuid", ({ agentId }) => agentId],
  minute: ["bigint", ({ minute }) => minute],
});

/** Deletes the tools, models, providers and rules that no trace has any more, of the minutes in which these arrived. */
export async function deleteUnusedCalls(
  client: Session,
  traces: readonly Pick<Calls, "agentId" | "traceId">[],
): Promise<void> {
  await client.query({
    name: "delete_unused_values",
    text: `select delete_unused_values(array_agg(agent_id), array_agg(minute))
      from (select distinct agent_id, minute from ${freed.from} order by agent_id, minute) freed`,
    values: freed.values(traces.map(({ agentId, traceId }) => ({ agentId, minute: minuteOfId(traceId) }))),
  });
}
