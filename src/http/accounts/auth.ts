// The accounts library, fitted to our tables: passwords, sessions and resets are its; addresses and mails are ours.
import { betterAuth } from "better-auth";
import type { FastifyRequest } from "fastify";
import type { Account } from "../../model/account.ts";
import { passwordResetMail } from "../../remote/mail/mails.ts";
import { accountsDatabase } from "../../store/accounts/library.ts";
import { listOwnIds } from "../../store/accounts/ownership.ts";
import { sharedSecret } from "../../store/secrets/shared-secret.ts";
import { deleteTracesOf } from "../../store/traces/read.ts";
import type { Background } from "../background.ts";
import type { Deps } from "../deps.ts";
import { askLibrary, noteOutage } from "./outages.ts";
import { inTurns } from "./passwords.ts";

export const passwordLengthMin = 8;
export const passwordLengthMax = 128;

/** The header in which the library is told who asks; whatever a client sends under this name is not passed on. */
export const addressHeader = "x-client-address";

// A minute each, per client address and per process.
const limits = { "/sign-up/email": 60, "/sign-in/email": 30, "/change-password": 10 };
const mailLimits = { "/request-password-reset": 5, "/reset-password": 10, "/delete-user": 10 };

export type Auth = Awaited<ReturnType<typeof openAuth>>;

/** Asks the database for the secret that cookies are signed with; the schema must be in place. */
export async function openAuth(deps: Deps, background: Background) {
  const { db, log, mailer, config } = deps;
  return betterAuth({
    appName: "Onlooker",
    secret: await sharedSecret(db, "session-cookies"),
    // Never seen by a client: requests are handed over one by one, and links are built from the configured URL.
    baseURL: authOrigin,
    basePath: "/api/auth",
    database: accountsDatabase(db),
    user: {
      modelName: "accounts",
      fields: { emailVerified: "email_verified", createdAt: "created_at", updatedAt: "updated_at" },
      deleteUser: {
        enabled: true,
        beforeDelete: async ({ id }) => deleteTracesOf(db, [...(await listOwnIds(db, id)).agents]),
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
    verification: {
      modelName: "verifications",
      fields: { expiresAt: "expires_at", createdAt: "created_at", updatedAt: "updated_at" },
      storeIdentifier: "hashed",
    },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: passwordLengthMin,
      maxPasswordLength: passwordLengthMax,
      password: inTurns(deps.passwordHashing),
      revokeSessionsOnPasswordReset: true,
      resetPasswordTokenExpiresIn: 3600,
      // In the background, so that the answer takes no longer for an address that exists.
      sendResetPassword: async ({ user, token }) => {
        const link = `${config.baseUrl}/reset-password?token=${token}`;
        background.start(
          () => mailer.send(passwordResetMail({ to: user.email, link, validHours: 1 })),
          "failed to send a password reset email",
        );
      },
    },
    rateLimit: {
      enabled: deps.limitAccounts !== false,
      window: 60,
      max: 600,
      storage: "memory",
      customRules: Object.fromEntries(
        Object.entries({ ...limits, ...mailLimits }).map(([path, max]) => [path, { window: 60, max }]),
      ),
    },
    advanced: {
      cookiePrefix: "svc",
      useSecureCookies: new URL(config.baseUrl).protocol === "https:",
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax" },
      ipAddress: { ipAddressHeaders: [addressHeader] },
      // session.ts judges the origin of every request before it comes here.
      disableCSRFCheck: true,
      // Ours are made by migrations; a check at the first request would only fail while the database is away.
      database: { validateSchema: false },
    },
    onAPIError: { throw: true },
    telemetry: { enabled: false },
    logger: {
      level: "error",
      log(level, message, ...details) {
        noteOutage(message, ...details);
        log[level]({ err: details.find(detail => detail instanceof Error) }, `accounts: ${message}`);
      },
    },
  });
}

/** Where the library believes to be. */
export const authOrigin = "http://accounts.invalid";

/**
 * The account whose session the request's cookie names, and the cookies to set where the session was extended.
 * Throws what the database threw when it is away.
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
    const { response, headers } = await askLibrary(find, found => !found.response);
    if (!response) return undefined;
    const { id, name, email, emailVerified } = response.user;
    return { account: { id, name, email, emailVerified }, cookies: headers.getSetCookie() };
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode === 401) return undefined;
    throw error;
  }
}
