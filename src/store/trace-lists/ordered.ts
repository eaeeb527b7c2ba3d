// Lists an agent's traces by duration, tokens or cost: puts the newest that pass the filters in order.

import { PriceList } from "../../model/price/price.ts";
import { costOfUsage, decodeUsage, priceDayOf } from "../../reading/derived/usage.ts";
import { placeOf } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { oldest } from "../listing.ts";
import type { SearchBudget } from "../scan.ts";
import { totalTokensSql } from "./conditions.ts";
import type { TraceFilters } from "./filters.ts";
import { boundsOf, type ListedTrace } from "./list.ts";
import { openSearch } from "./search.ts";
import { orderedStatement, poolStatement, rowsStatement } from "./sql.ts";

type SortByColumn = "longest" | "shortest" | "most_tokens" | "fewest_tokens";
type SortByCost = "most_expensive" | "least_expensive";
export type Sort = SortByColumn | SortByCost;

const sorts: Record<SortByColumn, { sql: string; descending: boolean }> = {
  longest: { sql: "t.duration_ms", descending: true },
  shortest: { sql: "t.duration_ms", descending: false },
  most_tokens: { sql: totalTokensSql, descending: true },
  fewest_tokens: { sql: totalTokensSql, descending: false },
};

export function isByCost(sort: Sort): sort is SortByCost {
  return sort === "most_expensive" || sort === "least_expensive";
}

/** How many traces are put in order. */
export const orderedMax = 10_000;

/** The last row of a page, and the ids between which the traces are that the first page put in order. */
export type OrderedCursor = { low: string; high: string; value: number | null; id: string };

export type OrderedPage = {
  rows: ListedTrace[];
  next: OrderedCursor | null;
  /** How many traces were put in order. */
  count: number;
  /** The lowest id of these if older traces may match; null if all were put in order. */
  reach: string | null;
};

// One look for what an index finds; a rare value that none finds may take the whole time.
const defaultBudget: SearchBudget = { ms: 800, stretch: orderedMax };

type Found = { id: string; value: number | null };
type Row = Partial<Found> & {
  reach: string | null;
  count: number;
  lowest: string | null;
  highest: string | null;
};

/** `prices`: for an order by cost. */
type OrderedListing = {
  sort: Sort;
  after?: OrderedCursor | undefined;
  rowsMax: number;
  prices?: PriceList | undefined;
};

export async function listOrdered(
  db: Database,
  agentId: string,
  filters: TraceFilters,
  { sort, after, rowsMax, prices = new PriceList([]) }: OrderedListing,
  budget = defaultBudget,
): Promise<OrderedPage> {
  const none: OrderedPage = { rows: [], next: null, count: 0, reach: null };
  if (filters.testIds?.length === 0) return none;
  const bounds = boundsOf(filters);
  const low = after && after.low > bounds.low ? after.low : bounds.low;
  const search = await openSearch(db, agentId, filters, "newest");
  const byCost = isByCost(sort);
  const descending = byCost ? sort === "most_expensive" : sorts[sort].descending;
  const { text, values } = byCost ? poolStatement(search.plan) : orderedStatement(search.plan, sorts[sort]);
  const begun = performance.now();
  let first: Found[] = [];
  let count = 0;
  let reach: string | null = after?.high ?? bounds.high;
  let lowest: string | null = null;
  let highest: string | null = null;
  let stretch = budget.stretch;
  while (reach !== null && count < orderedMax) {
    const from: string = reach;
    const asked = { from, to: low, rowsMax: rowsMax + 1, stretch };
    const look = await search.look(asked, async parameters => {
      const given = [...parameters, ...values, orderedMax - count];
      if (byCost) {
        const { rows } = await (await placeOf(db, agentId)).pool.query<PoolRow>(text, given);
        return firstByCost(rows, { descending, after, rowsMax: rowsMax + 1, prices });
      }
      const from = [after !== undefined, after?.value ?? null, after?.id ?? null];
      const { rows } = await (await placeOf(db, agentId)).pool.query<Row>(text, [...given, ...from]);
      return { rows, reach: rows[0]!.reach };
    });
    const [head] = look.rows;
    count += head?.count ?? 0;
    lowest = head?.lowest ?? lowest;
    highest ??= head?.highest ?? null;
    first = merge(first, look.rows, descending).slice(0, rowsMax + 1);
    reach = look.reach;
    stretch = Math.min(stretch * 2, 2 * orderedMax);
    if (performance.now() - begun > budget.ms) break;
  }
  // The limit may have cut off rows that the last look had searched.
  if (count >= orderedMax) reach = lowest;
  const rows = await rowsOf(await placeOf(db, agentId), first.slice(0, rowsMax));
  const last = first.length > rowsMax ? first[rowsMax - 1]! : undefined;
  if (reach === null && after && after.low !== oldest) reach = after.low;
  const high = after?.high ?? (highest === null ? bounds.high : idAbove(highest));
  return { rows, next: last ? { low: reach ?? oldest, high, ...last } : null, count, reach };
}

type PoolRow = { reach: string | null; id: string | null; usage: string | null; day: number };

/** What `orderedStatement` returns: prices change, so costs are computed when somebody asks for them. */
function firstByCost(
  pool: PoolRow[],
  {
    descending,
    after,
    rowsMax,
    prices,
  }: { descending: boolean; after: OrderedCursor | undefined; rowsMax: number; prices: PriceList },
): { rows: Row[]; reach: string | null } {
  const { reach } = pool[0]!;
  const days = new Map<number, string>();
  const dayOf = (day: number) => {
    const known = days.get(day) ?? priceDayOf(new Date(day * 86_400_000));
    days.set(day, known);
    return known;
  };
  const found = pool.flatMap(({ id, usage, day }): Found[] =>
    id === null ? [] : [{ id, value: costOfUsage(decodeUsage(usage!), prices, dayOf(day)).knownUsd }],
  );
  const common = {
    reach,
    count: found.length,
    lowest: found.at(-1)?.id ?? null,
    highest: found[0]?.id ?? null,
  };
  const isNext = (one: Found) => after === undefined || compare(after, one, descending) < 0;
  const first = found.filter(isNext).sort((a, b) => compare(a, b, descending));
  const rows = first.slice(0, rowsMax).map(one => ({ ...common, ...one }));
  return { rows: rows.length > 0 ? rows : [common], reach };
}

/** Traces that arrive between two pages are in neither. */
function idAbove(id: string): string {
  const next = (BigInt(`0x${id.replaceAll("-", "")}`) + 1n).toString(16).padStart(32, "0");
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function merge(one: Found[], other: Partial<Found>[], descending: boolean): Found[] {
  const rows = other.filter((row): row is Found => typeof row.id === "string");
  return [...one, ...rows].sort((a, b) => compare(a, b, descending));
}

/** Without a value last; of equal ones the newest first. */
function compare(a: Found, b: Found, descending: boolean): number {
  if (a.value === b.value) return a.id === b.id ? 0 : a.id < b.id ? 1 : -1;
  if (a.value === null || b.value === null) return a.value === null ? 1 : -1;
  return descending ? b.value - a.value : a.value - b.value;
}

async function rowsOf(db: Database, found: Found[]): Promise<ListedTrace[]> {
  if (found.length === 0) return [];
  const { rows } = await db.pool.query<ListedTrace>(rowsStatement, [found.map(({ id }) => id)]);
  const byId = new Map(rows.map(row => [row.id, row]));
  // Deleted meanwhile: left out.
  return found.flatMap(({ id }) => byId.get(id) ?? []);
}
