// What a trace list shows, put together from the pages that are loaded.
import type { TracePage } from "../../src/http/traces/schemas.ts";

/** What the API says about a list besides its rows. */
type About = Pick<TracePage, "ordered" | "searched">;
export type Page<R> = { items: R[]; nextCursor: string | null } & Partial<About>;

/**
 * `live`: newest first, by id, with new traces at the top. `sorted`: in an order of the server, where the place of a new
 * trace is unknown. `searched`: the same, and each page costs the server up to a second, so only the user asks for more.
 */
export type ListKind = "live" | "sorted" | "searched";

export type Shown<R> = About & {
  rows: readonly R[];
  /** Cursor of the next page; "" before the first page, null after the last. */
  nextCursor: string | null;
  busy: boolean;
  failure: Error | null;
  /** Newer rows that are held back until the user is at the top; `atLeast`: there may be more. */
  fresh: { count: number; atLeast: boolean };
};

export const nothingShown = {
  rows: [],
  nextCursor: "",
  busy: false,
  failure: null,
  fresh: { count: 0, atLeast: false },
  ordered: null,
  searched: null,
} satisfies Shown<never>;

/** The list with its next page: what was searched for each page adds up. */
export function withPage<R>(shown: Shown<R>, page: Page<R>) {
  const { items, nextCursor, ordered = null, searched = null } = page;
  const before = shown.searched;
  return {
    rows: [...shown.rows, ...items],
    nextCursor,
    ordered: shown.ordered ?? ordered,
    searched: searched && {
      traces: searched.traces + (before?.traces ?? 0),
      tooLarge: searched.tooLarge + (before?.tooLarge ?? 0),
      from: searched.from,
    },
  };
}
