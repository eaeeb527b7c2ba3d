// Query options for paginated lists.

import { infiniteQueryOptions } from "@tanstack/react-query";
import type { Page } from "../../src/http/frame/schemas.ts";
import { read } from "../api.ts";

/** A paginated list; its data are the items of all loaded pages. */
export function pagesOf<T>(queryKey: readonly string[], path: string, limit: number) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ signal, pageParam }) => {
      const query = new URLSearchParams({ limit: String(limit), ...(pageParam && { cursor: pageParam }) });
      return read<Page<T>>(`${path}${path.includes("?") ? "&" : "?"}${query}`, signal);
    },
    initialPageParam: "",
    getNextPageParam: page => page.nextCursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });
}
