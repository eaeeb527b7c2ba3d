// After signing in or up: forgets the previous account and opens the next page.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { sessionQuery } from "../queries/account.ts";
import { pageSession } from "../session.ts";

/** Navigates to `next`, a path in the dashboard, or to the start page. */
export function useSignedIn(next: string | undefined): () => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    queries.clear();
    pageSession.signedOut();
    // If this fails, the next page shows the error with a Retry button.
    await queries.prefetchQuery(sessionQuery);
    // Replaces the form in the history: going back to it would only redirect here again.
    await navigate({ href: next ?? "/", replace: true });
  };
}
