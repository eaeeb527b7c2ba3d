// Creates the query client: caching and retries.
import { QueryClient } from "@tanstack/react-query";
import { Failed } from "../api.ts";

export function makeQueryClient(): QueryClient {
  const isFailure = (error: unknown, ...codes: string[]) =>
    error instanceof Failed && codes.includes(error.failure.code);
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (failed, error) => failed < 2 && isFailure(error, "OFFLINE", "UNAVAILABLE"),
        retryDelay: 1_000,
      },
    },
  });
}
