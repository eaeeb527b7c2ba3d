// Which ranges the table of batches has, how they are made, and how long the next ones are.

import type pg from "pg";
import type { Session } from "../db.ts";
import { idAt, newest, oldest, timeOfId } from "../listing.ts";

export const dayMs = 86_400_000;
/** Without a retention time: a quarter of a year. */
const lengthDaysDefault = 91;

/** Ids from `from` on, below `to`: the first of some time. `oldest`: from the beginning. */
export type Bounds = { from: string; to: string };
/** A range of `trace_batches`. */
export type Range = Bounds & { name: string };

/** As SQL: ranges do not inherit it. */
export const storageOfRange = "with (toast_tuple_target = 8160)";

/** Of the range that begins with this id. */
export function nameFrom(from: string): string {
  if (from === oldest) return "trace_batches_first";
  return `trace_batches_${new Date(timeOfId(from)).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

/** As SQL. */
export function createRange({ from, to }: Bounds): string {
  const start = from === oldest ? "minvalue" : `'${idAt(timeOfId(from))}'`;
  return `create table ${nameFrom(from)} partition of trace_batches
    for values from (${start}) to ('${idAt(timeOfId(to))}') ${storageOfRange}`;
}

/** Of a range: an eighth of the retention time, so that at most an eighth more is kept and few ranges are looked into. */
export function rangeLengthMs(serverDays: number | null): number {
  return (serverDays === null ? lengthDaysDefault : Math.max(1, Math.floor(serverDays / 8))) * dayMs;
}

/** Whether batches are divided. */
export async function isDivided(session: Session): Promise<boolean> {
  const { rows } = await session.query<{ divided: boolean }>(
    "select relkind = 'p' as divided from pg_class where oid = 'trace_batches'::regclass",
  );
  return rows[0]!.divided;
}

/** The oldest first, without what is in none. */
export async function listRanges(client: Session): Promise<Range[]> {
  const { rows } = await client.query<{ name: string; bound: string }>(
    `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'trace_batches'::regclass`,
  );
  const ranges = rows.flatMap(({ name, bound }) => {
    const parts = /^FOR VALUES FROM \(([^()]*)\) TO \(([^()]*)\)$/.exec(bound);
    if (!parts) return [];
    const id = (text: string, open: string) => (/^'(.*)'$/.exec(text) ?? [text, open])[1]!;
    return [{ name, from: id(parts[1]!, oldest), to: id(parts[2]!, newest) }];
  });
  return ranges.sort((one, other) => (one.from < other.from ? -1 : 1));
}

/** The database's time, in ms. */
export async function nowOf(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ ms: number }>(
    "select extract(epoch from now())::float8 * 1000 as ms",
  );
  return rows[0]!.ms;
}
