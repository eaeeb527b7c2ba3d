// One search of a list of traces: its plan, and its looks at ranges of rows.

import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import type { Look } from "../scan.ts";
import type { TraceFilters } from "./filters.ts";
import type { Order } from "./path.ts";
import { type Plan, planList } from "./sql.ts";
import { type Value, ValueWalk, valuesOf } from "./values.ts";

/** Rows after `from`, through `to`, of which a look reads `stretch` and returns `rowsMax`. */
export type Bounds = { from: string; to: string; rowsMax: number; stretch: number };

export type Search = {
  plan: Plan;
  /** `query` is given the first parameters of the plan's statement. */
  look<Row>(bounds: Bounds, query: (parameters: unknown[]) => Promise<Look<Row>>): Promise<Look<Row>>;
};

export async function openSearch(
  db: Database,
  agentId: string,
  filters: TraceFilters,
  order: Order,
): Promise<Search> {
  const values = valuesOf(filters);
  const plan = planList(agentId, filters, order, values.length > 0);
  const place = await placeOf(db, agentId);
  const walk = plan.hasRanges
    ? new ValueWalk(place, agentId, values as [Value, ...Value[]], order)
    : undefined;
  return {
    plan,
    look({ from, to, rowsMax, stretch }, query) {
      const bounds = [from, to, rowsMax, stretch];
      return walk ? walk.look({ from, to }, ranges => query([...bounds, ...ranges])) : query(bounds);
    },
  };
}
