// Lists an agent's traces by filters, in bounded time however rare the matches.

import { externalIdsOf } from "../../model/trace/external-ids.ts";
import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { clockSlackMs, idAt, type Listing, newest, oldest } from "../listing.ts";
import type { RunRow } from "../runs/read.ts";
import { type Look, type SearchBudget, scan } from "../scan.ts";
import type { TraceRow } from "../traces/read.ts";
import { countFilters } from "./conditions.ts";
import type { TraceFilters } from "./filters.ts";
import { nameOfList } from "./names.ts";
import type { Order } from "./path.ts";
import { openSearch } from "./search.ts";
import { pageStatement, rowStatement, rowsStatement } from "./sql.ts";

/** A trace and the run its verdict comes from: the latest completed one, else the latest; a turn's is its test's run. */
export type ListedTrace = TraceRow & { run: RunRow | null };

/** Newest first, or oldest first with ids above `after`. */
export type TraceListing = Listing | { after: string; rowsMax: number };

/** The ids between which the traces of a time range are. */
export function boundsOf({ receivedFrom, receivedTo }: TraceFilters): { low: string; high: string } {
  return {
    low: receivedFrom ? idAt(receivedFrom.getTime() - clockSlackMs) : oldest,
    high: receivedTo ? idAt(receivedTo.getTime() + clockSlackMs) : newest,
  };
}

/**
 * The traces of an agent that pass the filters, in the order of their ids. Fewer than requested does not mean that there
 * are no more: those beyond `reach` have not been searched.
 */
export async function listTraces(
  db: Database,
  agentId: string,
  filters: TraceFilters,
  listing: TraceListing,
  budget?: SearchBudget,
): Promise<Look<ListedTrace>> {
  if (filters.testIds?.length === 0) return { rows: [], reach: null };
  const { externalId } = filters;
  if (externalId !== undefined && countFilters(filters) === 1)
    return listNamed(db, agentId, externalId, listing);
  const { low, high } = boundsOf(filters);
  const isNewestFirst = "before" in listing;
  const [start, end] = isNewestFirst ? [min(listing.before, high), low] : [max(listing.after, low), high];
  const order: Order = isNewestFirst ? "newest" : "oldest";
  const search = await openSearch(db, agentId, filters, order);
  const { text, values } = pageStatement(search.plan);
  const name = nameOfList(text, search.plan);
  return scan(
    { before: start, rowsMax: listing.rowsMax },
    ({ before, rowsMax }, stretch) =>
      search.look({ from: before, to: end, rowsMax, stretch }, async bounds => {
        const { rows } = await (await placeOf(db, agentId)).pool.query<
          ListedTrace & { reach: string | null }
        >({ ...(name && { name }), text, values: [...bounds, ...values] });
        const found = rows.filter(row => row.id !== null).map(({ reach: _, ...row }) => row);
        return { rows: found, reach: rows[0]!.reach };
      }),
    budget,
  );
}

/** The id first: planning the two statements takes half as long as planning one for both, which names the tables twice. */
async function listNamed(
  db: Database,
  agentId: string,
  externalId: string,
  listing: TraceListing,
): Promise<Look<ListedTrace>> {
  const { pool } = await placeOf(db, agentId);
  let id: string | undefined;
  for (const name of externalIdsOf(externalId)) {
    const { rows } = await pool.query<{ id: string }>({
      name: "find_named_trace",
      text: "select trace_id as id from trace_identities where agent_id = $1 and external_id = $2",
      values: [agentId, name],
    });
    id ??= rows[0]?.id;
  }
  const isListed = id !== undefined && ("before" in listing ? id < listing.before : id > listing.after);
  if (!isListed) return { rows: [], reach: null };
  const { rows } = await pool.query<ListedTrace>({
    name: "find_listed_trace",
    text: rowStatement,
    values: [agentId, id],
  });
  return { rows, reach: null };
}

/** Those of these traces that belong to the agent, newest first. */
export async function findTraces(db: Database, agentId: string, ids: string[]): Promise<ListedTrace[]> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<ListedTrace>({
    name: "find_listed_traces",
    text: `${rowsStatement} and t.agent_id = $2 order by t.id desc`,
    values: [ids, agentId],
  });
  return rows;
}

const min = (one: string, other: string) => (one < other ? one : other);
const max = (one: string, other: string) => (one > other ? one : other);
