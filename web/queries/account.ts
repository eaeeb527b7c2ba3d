// What is read about the account: its sessions and its verification.

import { queryOptions } from "@tanstack/react-query";
import type {
  CurrentSession,
  Session,
  Verification,
  VerificationLink,
} from "../../src/http/accounts/schemas.ts";
import { ask, Failed, read } from "../api.ts";

/** Who is signed in; null: nobody. */
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

/** What confirming the link of a verification mail would find. */
export const linkQuery = (token: string) =>
  queryOptions({
    queryKey: ["verification-link", token],
    queryFn: async ({ signal }) => {
      const answer = await ask<VerificationLink>("POST", "/api/verification/link", {
        body: { token },
        signal,
      });
      if (answer.ok) return answer.value;
      throw new Failed(answer.failure);
    },
  });
