// Keyset pagination: `cursor` and `limit` in the query, `{ items, nextCursor }` in the answer.
import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import { isUuid } from "../../store/accounts/ownership.ts";
import { type Listing, newest } from "../../store/listing.ts";
import { type Page, queryNumber } from "./schemas.ts";

// A cursor is the id of the last item returned or scanned, as 22 opaque characters.
const Cursor = z
  .string()
  .transform((text, context) => {
    const id = idOfCursor(text);
    if (id !== undefined) return id;
    context.addIssue("Must be the nextCursor of an earlier page.");
    return z.NEVER;
  })
  .meta({ pattern: "^[A-Za-z0-9_-]{21}[AQgw]$" })
  .optional()
  .describe("`nextCursor` of the previous page.");

/** The query parameters of every list. */
export const PageQuery = z.object({
  cursor: Cursor,
  limit: queryNumber(z.number().int().min(1).max(200)).prefault(50),
});

/** Reads one row more than the page has, to find out whether there is a next page. */
export function listingOf(query: z.output<typeof PageQuery>): Listing {
  return { before: query.cursor ?? newest, rowsMax: query.limit + 1 };
}

/**
 * The page of the rows that `listingOf` asked for. A filtered list scans a bounded number of rows, so its page may
 * have fewer rows than `limit`, even none; the next page then starts after `scannedTo`, the last row scanned.
 */
export function pageOf<T extends { id: string }>(
  rows: T[],
  { limit }: { limit: number },
  scannedTo: string | null = null,
): Page<T> {
  const items = rows.slice(0, limit);
  const last = rows.length > limit ? items.at(-1)!.id : scannedTo;
  return { items, nextCursor: last && cursorOf(last) };
}

/** Throws NOT_FOUND for undefined: the row may have been deleted after the ownership check. */
export function found<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Refusal("NOT_FOUND");
  return thing;
}

/** The cursor of a page that ended with this id. */
export function cursorOf(id: string): string {
  return Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url");
}

export function idOfCursor(cursor: string): string | undefined {
  const id = uuidOf(Buffer.from(cursor, "base64url"));
  return isUuid(id) && cursorOf(id) === cursor ? id : undefined;
}

export function uuidOf(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
