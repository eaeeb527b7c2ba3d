// /api/auth/change-password, /api/auth/request-password-reset and /api/auth/reset-password: a new password ends sessions and
// reset links, and access tokens on request.

import { z } from "zod";
import { countActiveAccessTokens, deleteAccessTokensOf } from "../../store/accounts/access-tokens.ts";
import { findAccountOfResetLink } from "../../store/accounts/accounts.ts";
import type { App, Deps } from "../deps.ts";
import { requireAccount } from "../signed-in.ts";
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
  const { db, config } = deps;
  const tags = ["accounts"];

  /** Tokens were created by whoever knew the old password, so a client is told how many are left. */
  async function endTokens(accountId: string, revoke: boolean | undefined): Promise<number> {
    if (revoke) await deleteAccessTokensOf(db, accountId);
    return countActiveAccessTokens(db, accountId);
  }

  app.post(
    "/api/auth/change-password",
    {
      schema: {
        tags,
        summary: "Change the password; ends all other sessions and all reset links",
        body: z.object({ currentPassword: Password, newPassword: NewPassword, revokeAccessTokens }),
        response: { 200: PasswordChanged },
      },
    },
    async (request, reply) => {
      const { revokeAccessTokens: revoke, ...change } = request.body;
      const body = { ...change, revokeOtherSessions: true };
      const answer = (await forward("/change-password", body, request, reply)) as PasswordChanged;
      return { ...answer, activeAccessTokens: await endTokens(requireAccount(request).id, revoke) };
    },
  );

  app.post(
    "/api/auth/request-password-reset",
    {
      config: { open: true },
      schema: {
        tags,
        summary: "Send a password reset link; the answer is the same whether the email is known or not",
        body: z.object({ email: Email }),
        response: { 200: ResetRequested },
      },
    },
    async (request, reply) => {
      await forward("/request-password-reset", { ...request.body }, request, reply);
      return { mailServer: Boolean(config.smtpUrl) };
    },
  );

  app.post(
    "/api/auth/reset-password",
    {
      config: { open: true },
      schema: {
        tags,
        summary: "Set a new password with the token from the email; ends all sessions and all reset links",
        body: z.object({ token: Token, newPassword: NewPassword, revokeAccessTokens }),
        response: { 200: PasswordReset },
      },
    },
    async (request, reply) => {
      const { revokeAccessTokens: revoke, ...body } = request.body;
      const account = await findAccountOfResetLink(db, body.token);
      const answer = (await forward("/reset-password", body, request, reply)) as object;
      if (!account) return { ...answer, activeAccessTokens: 0 };
      // Strangers who guess at the account must not keep its owner from signing in now.
      await rememberClient(deps, { ip: request.clientIp, email: account.email });
      return { ...answer, activeAccessTokens: await endTokens(account.id, revoke) };
    },
  );
}
