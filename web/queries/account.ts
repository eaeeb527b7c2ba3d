// Queries about the account: its sessions and email verification.

import { queryOptions } from "@tanstack/react-query";
import type { CurrentSession, Session, Verification } from "../../src/http/accounts/schemas.ts";
import { Failed, read } from "../api.ts";
import { checkVerificationLink } from "../mutations/account.ts";

/** The signed-in account; null: nobody. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => read<CurrentSession>("/api/auth/get-session", signal),
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

/** The state of a link in a verification email. */
export const linkQuery = (token: string) =>
  queryOptions({
    queryKey: ["verification-link", token],
    queryFn: async ({ signal }) => {
      const answer = await checkVerificationLink(token, signal);
      if (answer.ok) return answer.value;
      throw new Failed(answer.failure);
    },
  });
