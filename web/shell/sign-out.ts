// Signs out and clears all cached data.
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { signOut } from "../mutations/account.ts";
import { sessionQuery } from "../queries/account.ts";
import { pageSession } from "../session.ts";
import { toast } from "../ui/Toast.tsx";

export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  const router = useRouter();
  return async () => {
    const answer = await signOut();
    if (!answer.ok && answer.failure.code !== "UNAUTHORIZED") return toast(answer.failure.message);
    const { pathname: from } = router.history.location;
    pageSession.signingOut();
    await router.navigate({ to: "/sign-in" });
    const { pathname } = router.history.location;
    // The user stayed because of unsaved changes, and has moved within the page, or signed in again to save them.
    if (pathname === from || pageSession.state.kind === "active") return;
    if (pathname !== "/sign-in") await router.navigate({ to: "/sign-in" });
    pageSession.signedOut();
    queries.setQueryData(sessionQuery.queryKey, null);
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
  };
}
