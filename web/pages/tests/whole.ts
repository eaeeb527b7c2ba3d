// A list that is read to its end by itself, for what is filtered and sorted here.
import { useEffect } from "react";

type Pages = {
  hasNextPage: boolean;
  isFetching: boolean;
  isFetchNextPageError: boolean;
  fetchNextPage: () => unknown;
};

/** Stops where a page fails: `MorePages` goes on from there. */
export function useWhole<Q extends Pages>(query: Q): Q {
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = query;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetching, isFetchNextPageError, fetchNextPage]);
  return query;
}
