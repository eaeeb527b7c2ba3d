// The account that a request is signed in as.
import type { FastifyRequest } from "fastify";

import type { Account } from "../model/account.ts";
import { Refusal } from "../model/refusal.ts";

/** The authenticated account. Throws UNAUTHORIZED if there is none. */
export function requireAccount(request: FastifyRequest): Account {
  if (request.account) return request.account;
  throw new Refusal("UNAUTHORIZED", { message: "Sign in first." });
}

/** The same with a verified email. Throws EMAIL_NOT_VERIFIED; `what` begins its message, as in "Agents can be called". */
export function requireVerified(request: FastifyRequest, what: string): Account {
  const account = requireAccount(request);
  if (account.emailVerified) return account;
  throw new Refusal("EMAIL_NOT_VERIFIED", {
    message: `${what} once your email is verified.`,
    hint: "Open the link in the verification email first.",
  });
}
