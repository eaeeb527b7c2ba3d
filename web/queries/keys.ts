// Query for a project's API keys.
import type { QueryClient } from "@tanstack/query-core";
import type { Key } from "../../src/http/projects/schemas.ts";
import { pagesOf } from "./pages.ts";

export const keysQuery = (projectId: string) =>
  pagesOf<Key>(["projects", projectId, "keys"], `/api/projects/${projectId}/keys`, 50);

/** Asks the server for the pages that were loaded, even if the cache is fresh, and updates the cache. */
export async function readKeysNow(queries: QueryClient, projectId: string): Promise<Key[]> {
  const { pages } = await queries.fetchInfiniteQuery({
    ...keysQuery(projectId),
    staleTime: 0,
    retry: false,
  });
  return pages.flatMap(({ items }) => items);
}
