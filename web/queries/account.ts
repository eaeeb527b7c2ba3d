// What is read about the account: its sessions and its verification.
import { queryOptions } from "@tanstack/react-query";
import type { LinkState } from "../../src/model/account.ts";
import { ask, Failed, read } from "../api.ts";
import type { Session, SignedIn, Verification } from "../shapes.ts";

/** Who is signed in; null: nobody. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => read<SignedIn | null>("/api/auth/get-session", signal),
  staleTime: 60_000,
});

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => read<Session[]>("/api/auth/list-sessions", signal),
});

export const verificationQuery = queryOptions({
  queryKey: ["verification"],
  queryFn: ({ signal }) => read<Verification>("/api/verification", signal),
});

/** What confirming the link of a verification mail would find. */
export const linkQuery = (token: string) =>
  queryOptions({
    queryKey: ["verification-link", token],
    queryFn: async ({ signal }) => {
      const answer = await ask<{ state: LinkState }>("POST", "/api/verification/link", {
        body: { token },
        signal,
      });
      if (answer.ok) return answer.value;
      throw new Failed(answer.failure);
    },
  });
