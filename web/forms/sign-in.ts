// What happens once somebody has signed in or up: whoever was here before is forgotten.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { sessionQuery } from "../queries/account.ts";

/** Goes to `next`, a path of the dashboard, or to the beginning. */
export function useSignedIn(next: string | undefined): () => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    queries.clear();
    // Should this fail, the page that follows says so and offers to try again.
    await queries.prefetchQuery(sessionQuery);
    // Back leads past the form, which would only lead here again.
    await navigate({ href: next ?? "/", replace: true });
  };
}
