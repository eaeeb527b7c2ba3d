// The query client: caching and retries.
import { type FetchQueryOptions, QueryClient, type QueryKey } from "@tanstack/query-core";
import { Failed } from "../api.ts";

export function makeQueryClient(): QueryClient {
  const isFailure = (error: unknown, ...codes: string[]) =>
    error instanceof Failed && codes.includes(error.failure.code);
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // A browser that calls itself offline still reaches a service on the same machine. Where it reaches none, an error with
        // a Retry button says so: by default, queries would wait without a word.
        networkMode: "always",
        refetchOnReconnect: true,
        retry: (failed, error) => failed < 2 && isFailure(error, "OFFLINE", "UNAVAILABLE"),
        retryDelay: 1_000,
      },
    },
  });
}

/** Asks the server even if the cache is fresh, and updates the cache. */
export function readNow<T, K extends QueryKey>(
  queries: QueryClient,
  query: FetchQueryOptions<T, Error, T, K>,
): Promise<T> {
  return queries.fetchQuery({ ...query, staleTime: 0, retry: false });
}
