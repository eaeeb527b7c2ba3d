// The cache of everything read, and when reading is tried again.
import { QueryCache, QueryClient } from "@tanstack/react-query";
import { Failed } from "../api.ts";

/** `onSignedOut` is told when an answer says that there is no session any more. */
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
