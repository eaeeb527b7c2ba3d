// Queries about the account: its sessions and email verification.

import { queryOptions } from "@tanstack/react-query";
import type { CurrentSession, Session, Verification } from "../../src/http/accounts/schemas.ts";
import { Failed, read } from "../api.ts";
import { checkVerificationLink } from "../mutations/account.ts";
import { pageSession } from "../session.ts";

const sessionKey = ["session"];

/** The signed-in account; null: nobody. On a page whose session has ended, the account of the page. */
export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: async ({ client, signal }) => {
    const current = await read<CurrentSession>("/api/auth/get-session", signal);
    if (pageSession.saw(current?.user ?? null)) return current;
    return client.getQueryData<CurrentSession>(sessionKey) ?? current;
  },
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
