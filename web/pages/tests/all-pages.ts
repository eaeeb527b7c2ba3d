// Fetches every page of a list, so that it can be filtered and sorted in the browser.
import { useEffect } from "react";

type Pages = {
  hasNextPage: boolean;
  isFetching: boolean;
  isFetchNextPageError: boolean;
  fetchNextPage: () => unknown;
};

/** Stops at a page that fails: `MorePages` continues from there. */
export function useAllPages<Q extends Pages>(query: Q): Q {
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = query;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetching, isFetchNextPageError, fetchNextPage]);
  return query;
}
