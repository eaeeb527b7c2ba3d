// What is found: one thing, or a page of a list (`cursor` and `limit` in, `{ items, nextCursor }` out).
import { z } from "zod";
import { Refusal } from "../model/refusal.ts";
import { isUuid } from "../store/accounts/ownership.ts";
import { type Listing, newest } from "../store/listing.ts";

// A cursor is the id of the last item shown or looked at, as 22 characters that promise nothing about what they are.
const Cursor = z
  .string()
  .transform((text, context) => {
    const hex = Buffer.from(text, "base64url").toString("hex");
    const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    if (isUuid(id) && cursorOf(id) === text) return id;
    context.addIssue("Must be the nextCursor of an earlier page.");
    return z.NEVER;
  })
  .optional()
  .describe("The nextCursor of the page before.");

/** The query of every list. */
export const PageQuery = z.object({
  cursor: Cursor,
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

/** What the store is asked for: one row more than is shown, to know whether there is a next page. */
export function listingOf(query: z.output<typeof PageQuery>): Listing {
  return { before: query.cursor ?? newest, rowsMax: query.limit + 1 };
}

/**
 * The rows that `listingOf` asked for, as a page. A list that looks for what is rare may answer with fewer than it
 * was asked for, even none, and go on from where its `reach` says that it stopped.
 */
export function pageOf<T extends { id: string }>(
  rows: T[],
  { limit }: { limit: number },
  reach: string | null = null,
): { items: T[]; nextCursor: string | null } {
  const items = rows.slice(0, limit);
  const last = rows.length > limit ? items.at(-1)!.id : reach;
  return { items, nextCursor: last && cursorOf(last) };
}

/** The schema of a page of `item`. */
export function pageSchema<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}

/** What was there when the request was let in may be gone by now. */
export function found<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Refusal("NOT_FOUND");
  return thing;
}

function cursorOf(id: string): string {
  return Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url");
}
