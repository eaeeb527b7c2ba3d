// Pages of the list of traces: in the order of time, by duration or tokens, and those whose spans match.

import { PriceList } from "../../model/price/price.ts";
import { Refusal } from "../../model/refusal.ts";
import type { SpanFilter } from "../../model/trace/span-filter.ts";
import type { Database } from "../../store/db.ts";
import { listPricesOfAgent } from "../../store/judge/prices.ts";
import { newest, oldest, timeOfId } from "../../store/listing.ts";
import { namesOfTests } from "../../store/test-cases.ts";
import type { TraceFilters } from "../../store/trace-lists/filters.ts";
import { type ListedTrace as ListedTraceRow, listTraces } from "../../store/trace-lists/list.ts";
import { isByCost, listOrdered, type OrderedCursor, type Sort } from "../../store/trace-lists/ordered.ts";
import type { TraceReader } from "../../trace-reader.ts";
import { cursorOf, idOfCursor, pageOf, uuidOf } from "../frame/page.ts";
import type { TracePage } from "./schemas.ts";
import { failedTestsMax, listedTraceView } from "./view.ts";

type Page = Omit<TracePage, "items"> & { items: ListedTraceRow[] };
type List = { db: Database; agentId: string; filters: TraceFilters; limit: number };
type TimeOrder = "newest" | "oldest";

const unordered = { ordered: null, searched: null };

export async function pageByTime(
  { db, agentId, filters, limit }: List,
  order: TimeOrder,
  cursor: string | undefined,
): Promise<Page> {
  const listing = listingFrom(order, cursor && requireId(cursor), limit + 1);
  const { rows, reach } = await listTraces(db, agentId, filters, listing);
  return { ...pageOf(rows, { limit }, reach), ...unordered };
}

function listingFrom(order: TimeOrder, from: string | undefined, rowsMax: number) {
  return order === "newest" ? { before: from ?? newest, rowsMax } : { after: from ?? oldest, rowsMax };
}

export async function orderedPage(
  { db, agentId, filters, limit }: List,
  sort: Sort,
  cursor: string | undefined,
): Promise<Page> {
  const after = cursor === undefined ? undefined : requireOrdered(cursor);
  const prices = isByCost(sort) ? new PriceList(await listPricesOfAgent(db, agentId)) : undefined;
  const found = await listOrdered(db, agentId, filters, { sort, after, rowsMax: limit, prices });
  return {
    items: found.rows,
    nextCursor: found.next && orderedCursor(found.next),
    ordered: { traces: found.count, from: timeText(found.reach) },
    searched: null,
  };
}

// With what surrounds it, a request takes at most a second.
const searchMs = 850;
/** As many are asked for at a time as are searched in a few hundred milliseconds. */
const candidatesMax = 400;

/** Searches the spans of the traces that pass the other filters, until the page is full or the time is up. */
export async function pageOfSpans(
  { db, agentId, filters, limit, reader, filter }: List & { reader: TraceReader; filter: SpanFilter },
  order: TimeOrder,
  cursor: string | undefined,
): Promise<Page> {
  const begun = performance.now();
  const items: Page["items"] = [];
  let traces = 0;
  let tooLarge = 0;
  let from = cursor && requireId(cursor);
  for (;;) {
    const { rows, reach } = await listTraces(db, agentId, filters, listingFrom(order, from, candidatesMax));
    const traceIds = rows.map(({ id }) => id);
    // The candidates beyond a full look come next, even if none are beyond the rows that it read.
    const next = rows.length < candidatesMax ? reach : traceIds.at(-1)!;
    const ms = Math.max(0, searchMs - (performance.now() - begun));
    const found = traceIds.length > 0 ? await reader.search({ traceIds, filter, ms }) : nothing;
    const wanted = new Set(found.matching.slice(0, limit - items.length));
    items.push(...rows.filter(({ id }) => wanted.has(id)));
    const isFull = items.length === limit;
    // The rest of what was found is found again by the next page.
    const last = isFull ? traceIds.indexOf(items.at(-1)!.id) : found.searched - 1;
    traces += last + 1;
    tooLarge += found.tooLarge;
    from = last === traceIds.length - 1 ? (next ?? undefined) : traceIds[last];
    if (from !== undefined && !isFull && performance.now() - begun < searchMs) continue;
    const searched = { traces, tooLarge, from: timeText(from ?? null) };
    return { items, nextCursor: from === undefined ? null : cursorOf(from), ordered: null, searched };
  }
}

const nothing = { matching: [], searched: 0, tooLarge: 0 };

/** The rows of an agent as the API answers them, with the names that tests have now and what its project pays. */
export async function viewsOf(db: Database, rows: ListedTraceRow[]): Promise<TracePage["items"]> {
  const failed = rows.flatMap(({ run }) => run?.failedTestIds?.slice(0, failedTestsMax) ?? []);
  const names = failed.length > 0 ? await namesOfTests(db, [...new Set(failed)]) : new Map<string, string>();
  const own = rows[0] ? await listPricesOfAgent(db, rows[0].agentId) : [];
  const prices = new PriceList(own);
  return rows.map(row => listedTraceView(row, names, prices));
}

function timeText(id: string | null): string | null {
  return id && new Date(timeOfId(id)).toISOString();
}

// A cursor of traces in another order than time: a flag, two bounds, the id and the value of the last row.
const orderedBytes = 57;
/** Times of later years are not written with four digits, as answers are. */
const afterAllTimes = Date.UTC(10_000, 0);

function orderedCursor({ low, high, value, id }: OrderedCursor): string {
  const bytes = Buffer.alloc(orderedBytes);
  bytes.writeUInt8(value === null ? 0 : 1, 0);
  for (const [at, one] of [low, high, id].entries()) {
    bytes.write(one.replaceAll("-", ""), 1 + at * 16, "hex");
  }
  bytes.writeDoubleBE(value ?? 0, 49);
  return bytes.toString("base64url");
}

function requireOrdered(cursor: string): OrderedCursor {
  const bytes = Buffer.from(cursor, "base64url");
  if (bytes.length !== orderedBytes) throw otherOrder();
  const [low, high, id] = [0, 1, 2].map(at => uuidOf(bytes.subarray(1 + at * 16, 17 + at * 16))) as [
    string,
    string,
    string,
  ];
  if (low > id || id >= high || timeOfId(id) >= afterAllTimes) throw otherOrder();
  const value = bytes.readDoubleBE(49);
  return { low, high, id, value: bytes[0] === 0 || Number.isNaN(value) ? null : value };
}

function requireId(cursor: string): string {
  const id = idOfCursor(cursor);
  if (id === undefined) throw otherOrder();
  return id;
}

function otherOrder(): Refusal {
  const message = "Must be the nextCursor of an earlier page in the same order.";
  return new Refusal("VALIDATION_ERROR", { issues: [{ path: "cursor", message }] });
}
