// Signs out and clears all cached data.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { signOut } from "../mutations/account.ts";
import { sessionQuery } from "../queries/account.ts";
import { pageSession } from "../session.ts";
import { toast } from "../ui/Toast.tsx";

export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    const answer = await signOut();
    if (!answer.ok && answer.failure.code !== "UNAUTHORIZED") return toast(answer.failure.message);
    pageSession.signedOut();
    queries.setQueryData(sessionQuery.queryKey, null);
    await navigate({ to: "/sign-in" });
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
  };
}
