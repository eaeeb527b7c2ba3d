// Reads the hourly rollups of models: the tokens of an agent's evaluated traces by model over time.
import type { ModelUsage } from "../../reading/derived/usage.ts";
import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import type { Span } from "./insights.ts";

export type ModelPoint = ModelUsage & { at: Date };

/** Sorted by model, then by time; at most `rowsMax`. No interval is longer than a day (UTC), so each has one price. */
export async function listModelPoints(
  db: Database,
  agentId: string,
  { from, to, interval }: Span,
  rowsMax: number,
): Promise<ModelPoint[]> {
  const sum = (column: string, name: string) => `sum(${column})::bigint as "${name}"`;
  const { rows } = await (await placeOf(db, agentId)).pool.query<ModelPoint>(
    `select date_trunc($4, hour, 'UTC') as at, nullif(provider, '') as provider, nullif(model, '') as model,
      prompt_above as "promptAbove", ${sum("calls", "calls")}, ${sum("unmeasured", "unmeasured")},
      ${sum("input_tokens", "inputTokens")}, ${sum("cached_tokens", "cachedTokens")},
      ${sum("cache_write_tokens", "cacheWriteTokens")}, ${sum("output_tokens", "outputTokens")}
    from model_hours where agent_id = $1 and hour >= $2 and hour < $3
    group by 1, 2, 3, 4
    -- A later run of a trace may have taken back all that a model had used.
    having sum(calls) <> 0 or sum(input_tokens) <> 0 or sum(output_tokens) <> 0
    order by 3 nulls last, 2 nulls last, 1, 4 limit $5`,
    [agentId, from, to, interval, rowsMax],
  );
  return rows;
}
