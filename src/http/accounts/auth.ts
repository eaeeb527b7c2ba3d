// Configures the accounts library (better-auth) for our tables. It handles passwords, sessions and resets; this project
// handles email verification and sends the emails.

import { betterAuth } from "better-auth";
import type { FastifyRequest } from "fastify";
import type { Account } from "../../model/account.ts";
import { passwordResetMail } from "../../remote/mail/mails.ts";
import { deleteResetLinks, hasSession } from "../../store/accounts/accounts.ts";
import { accountsDatabase } from "../../store/accounts/library.ts";
import { listOwnIds } from "../../store/accounts/ownership.ts";
import { deleteTracesOf } from "../../store/delete-traces.ts";
import { untilAnswered } from "../../store/prepare.ts";
import { sharedSecret } from "../../store/secrets/shared-secret.ts";
import type { Background } from "../frame/background.ts";
import type { Deps } from "../frame/deps.ts";
import { cookiePrefixOf } from "../frame/session.ts";
import { mailAccount } from "./account-mail.ts";
import { forgetAttempts } from "./attempt-limits.ts";
import { callLibrary, recordOutage } from "./outages.ts";
import { passwordChanged } from "./password-changed.ts";
import { limitHashing } from "./passwords.ts";
import { passwordLengthMax, passwordLengthMin } from "./schemas.ts";
import { notifyOwner } from "./sign-up.ts";

/** Header that passes the client's IP address to the library. A header of this name sent by a client is dropped. */
export const clientIpHeader = "x-client-address";

export type Auth = Awaited<ReturnType<typeof openAuth>>;

/** Reads the secret that signs cookies from the database, which must be migrated. */
export async function openAuth(deps: Deps, background: Background) {
  const { db, log, mailer, config } = deps;
  return betterAuth({
    appName: "Onlooker",
    secret: await untilAnswered(() => sharedSecret(db, "session-cookies")),
    // Never seen by a client: requests are forwarded one by one, and links are built from the configured URL.
    baseURL: authOrigin,
    basePath: "/api/auth",
    database: accountsDatabase(db),
    user: {
      modelName: "accounts",
      fields: { emailVerified: "email_verified", createdAt: "created_at", updatedAt: "updated_at" },
      deleteUser: {
        enabled: true,
        beforeDelete: async ({ id }) => deleteTracesOf(db, [...(await listOwnIds(db, id)).agents]),
        afterDelete: async ({ id, email }) => {
          await deleteResetLinks(db, id);
          await mailer.forget(email);
          await forgetAttempts(deps, email);
        },
      },
    },
    session: {
      modelName: "sessions",
      fields: {
        userId: "account_id",
        expiresAt: "expires_at",
        ipAddress: "ip_address",
        userAgent: "user_agent",
        createdAt: "created_at",
        updatedAt: "updated_at",
      },
    },
    account: {
      modelName: "credentials",
      fields: {
        userId: "account_id",
        accountId: "subject",
        providerId: "provider",
        accessToken: "access_token",
        refreshToken: "refresh_token",
        idToken: "id_token",
        accessTokenExpiresAt: "access_token_expires_at",
        refreshTokenExpiresAt: "refresh_token_expires_at",
        createdAt: "created_at",
        updatedAt: "updated_at",
      },
    },
    databaseHooks: {
      account: {
        update: {
          // A change whose current password was verified before another change or a reset must not undo that one.
          before: async (_password, endpoint) => {
            const session = endpoint?.context.session?.session;
            if (session && !(await hasSession(db, session.token))) throw passwordChanged();
          },
        },
      },
    },
    verification: {
      modelName: "verifications",
      fields: { expiresAt: "expires_at", createdAt: "created_at", updatedAt: "updated_at" },
      storeIdentifier: "hashed",
    },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: passwordLengthMin,
      maxPasswordLength: passwordLengthMax,
      password: limitHashing(deps.passwordHashing),
      revokeSessionsOnPasswordReset: true,
      // The library then answers a sign-up with a taken email like any other, after hashing the password.
      autoSignIn: !config.smtpUrl,
      onExistingUserSignUp: async ({ user }) => notifyOwner(deps, background, user.email),
      resetPasswordTokenExpiresIn: 3600,
      // In the background, so that response times do not reveal which emails have an account.
      sendResetPassword: async ({ user, token }) => {
        const link = `${config.baseUrl}/reset-password?token=${token}`;
        background.start(
          () => mailAccount(deps, passwordResetMail({ to: user.email, link, validHours: 1 })),
          "failed to send a password reset email",
        );
      },
    },
    // attempt-limits.ts limits requests before they are forwarded.
    rateLimit: { enabled: false },
    advanced: {
      cookiePrefix: cookiePrefixOf(config.baseUrl),
      // Its own prefix, __Secure-, would let other hosts of the domain set the cookie.
      useSecureCookies: false,
      defaultCookieAttributes: {
        httpOnly: true,
        sameSite: "lax",
        path: "/",
        secure: new URL(config.baseUrl).protocol === "https:",
      },
      ipAddress: { ipAddressHeaders: [clientIpHeader] },
      // session.ts checks the origin of every request before it is forwarded.
      disableCSRFCheck: true,
      // Migrations create the tables; a check at the first request would fail while the database is unavailable.
      database: { validateSchema: false },
    },
    onAPIError: { throw: true },
    telemetry: { enabled: false },
    logger: {
      level: "error",
      log(level, message, ...details) {
        recordOutage(message, ...details);
        if (details.some(isEmailTaken)) return;
        log[level]({ err: details.find(detail => detail instanceof Error) }, `accounts: ${message}`);
      },
    },
  });
}

/** Expected: the slower of two concurrent sign-ups with one email. accounts.ts answers it. */
function isEmailTaken(error: unknown): boolean {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown };
  return code === "23505" && constraint === "accounts_email_key";
}

/** The origin of the requests that are forwarded to the library. */
export const authOrigin = "http://accounts.invalid";

/**
 * The account of the session in the request's cookie, and the cookies to set if the session was extended.
 * Throws the database's error if the database is unavailable.
 */
export async function findSession(
  auth: Auth,
  request: FastifyRequest,
  { extend = true }: { extend?: boolean } = {},
): Promise<{ account: Account; cookies: string[] } | undefined> {
  const { cookie } = request.headers;
  if (cookie === undefined) return undefined;
  const find = () =>
    auth.api.getSession({
      headers: new Headers({ cookie }),
      query: { disableRefresh: !extend },
      returnHeaders: true,
    });
  try {
    const { response, headers } = await callLibrary(find, found => !found.response);
    if (!response) return undefined;
    const { id, name, email, emailVerified } = response.user;
    return { account: { id, name, email, emailVerified }, cookies: headers.getSetCookie() };
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode === 401) return undefined;
    throw error;
  }
}
