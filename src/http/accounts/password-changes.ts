// /api/auth/change-password, /api/auth/request-password-reset and /api/auth/reset-password: a new password ends sessions and
// reset links, and access tokens on request.

import { z } from "zod";
import { countActiveAccessTokens, deleteAccessTokensOf } from "../../store/accounts/access-tokens.ts";
import { findAccountOfResetLink } from "../../store/accounts/accounts.ts";
import type { App, Deps } from "../frame/deps.ts";
import { routesOf } from "../frame/route.ts";
import { rememberClient } from "./attempt-limits.ts";
import type { Forward } from "./forward.ts";
import {
  Email,
  NewPassword,
  Password,
  PasswordChanged,
  PasswordReset,
  ResetRequested,
  Token,
} from "./schemas.ts";

const revokeAccessTokens = z.boolean().optional().describe("Whether to revoke all access tokens, too.");

export function registerPasswords(app: App, deps: Deps, forward: Forward): void {
  const route = routesOf(app, "accounts");
  const { db, config } = deps;

  /** Their creators knew the old password, so a client is told how many tokens are left. */
  async function endTokens(accountId: string, revoke: boolean | undefined): Promise<number> {
    if (revoke) await deleteAccessTokensOf(db, accountId);
    return countActiveAccessTokens(db, accountId);
  }

  route("POST /api/auth/change-password", {
    access: "session",
    summary: "Change the password; ends all other sessions and all reset links",
    body: z.object({ currentPassword: Password, newPassword: NewPassword, revokeAccessTokens }),
    answer: PasswordChanged,
    handler: async ({ body, account, request, reply }) => {
      const { revokeAccessTokens: revoke, ...change } = body;
      const asked = { ...change, revokeOtherSessions: true };
      const answer = (await forward("/change-password", asked, request, reply)) as PasswordChanged;
      return { ...answer, activeAccessTokens: await endTokens(account.id, revoke) };
    },
  });

  route("POST /api/auth/request-password-reset", {
    access: "open",
    summary: "Send a password reset link; the answer is the same whether the email is known or not",
    body: z.object({ email: Email }),
    answer: ResetRequested,
    handler: async ({ body, request, reply }) => {
      await forward("/request-password-reset", { ...body }, request, reply);
      return { mailServer: Boolean(config.smtpUrl) };
    },
  });

  route("POST /api/auth/reset-password", {
    access: "open",
    summary: "Set a new password with the token from the email; ends all sessions and all reset links",
    body: z.object({ token: Token, newPassword: NewPassword, revokeAccessTokens }),
    answer: PasswordReset,
    handler: async ({ body, request, reply }) => {
      const { revokeAccessTokens: revoke, ...reset } = body;
      const account = await findAccountOfResetLink(db, reset.token);
      const answer = (await forward("/reset-password", reset, request, reply)) as object;
      if (!account) return { ...answer, activeAccessTokens: 0 };
      // Strangers who guess at the account must not keep its owner from signing in now.
      await rememberClient(deps, { ip: request.clientIp, email: account.email });
      return { ...answer, activeAccessTokens: await endTokens(account.id, revoke) };
    },
  });
}
