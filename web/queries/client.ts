// Creates the query client: caching, retries and what happens when the session ends.
import { QueryCache, QueryClient } from "@tanstack/react-query";
import { Failed } from "../api.ts";

/** `onSignedOut` is called when a response says that the session has ended. */
export function makeQueryClient(onSignedOut: () => void): QueryClient {
  const isFailure = (error: unknown, ...codes: string[]) =>
    error instanceof Failed && codes.includes(error.failure.code);
  return new QueryClient({
    queryCache: new QueryCache({
      onError: error => {
        if (isFailure(error, "UNAUTHORIZED")) onSignedOut();
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (failed, error) => failed < 2 && isFailure(error, "OFFLINE", "UNAVAILABLE"),
        retryDelay: 1_000,
      },
    },
  });
}
