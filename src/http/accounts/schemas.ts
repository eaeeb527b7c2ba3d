// The response schemas of accounts, sessions, email verification and access tokens.
import { z } from "zod";
import { tokenScopes } from "../../model/access-token.ts";
import { Id, Time } from "../frame/schemas.ts";

export const passwordLengthMin = 8;
export const passwordLengthMax = 128;

/** Of letters, digits and `_ + - . '`, with at most 64 characters before the @, and labels of at most 63 after it. */
export const Email = z
  .email({
    pattern:
      /^(?=[^@]{1,64}@)(?!\.)(?!.*\.\.)[A-Za-z0-9_'+.-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$/,
  })
  .max(254);
export const Password = z.string().min(1).max(passwordLengthMax);
export const NewPassword = z.string().min(passwordLengthMin).max(passwordLengthMax);
export const Token = z.string().regex(/^[\w-]{1,200}$/, "Must be a token from the email or from a session.");

export const Done = z.looseObject({});

// Loose: the accounts library adds fields of its own.
const User = z.looseObject({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  emailVerified: z.boolean(),
});

export const Session = z.looseObject({
  id: z.string(),
  token: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  expiresAt: z.string(),
  ipAddress: z.string().nullish(),
  userAgent: z.string().nullish(),
});
export type Session = z.output<typeof Session>;

export const SignedIn = z.looseObject({ user: User });
export type SignedIn = z.output<typeof SignedIn>;

export const SignedUp = z.looseObject({
  user: User.nullable().describe("null if a mail server is configured: sign in next."),
});
export type SignedUp = z.output<typeof SignedUp>;

const activeAccessTokens = z.int().describe("How many access tokens still work.");
export const PasswordChanged = SignedIn.extend({ activeAccessTokens });
export type PasswordChanged = z.output<typeof PasswordChanged>;
export const PasswordReset = Done.extend({ activeAccessTokens });
export type PasswordReset = z.output<typeof PasswordReset>;

export const CurrentSession = z.looseObject({ user: User, session: Session }).nullable();
export type CurrentSession = z.output<typeof CurrentSession>;

const mailServer = z
  .boolean()
  .describe("Whether emails are sent. Without a mail server, their links are in the service log.");

export const ResetRequested = z.object({ mailServer });
export type ResetRequested = z.output<typeof ResetRequested>;

export const Verification = z.object({
  email: z.string(),
  verified: z.boolean(),
  resendAllowedAt: Time.nullable().describe(
    "When the next email may be requested; null: now, or the email is verified.",
  ),
  mailServer,
  baseUrl: z.string().describe("The origin of the links in emails, set by SVC_BASE_URL."),
  link: z
    .string()
    .nullable()
    .describe("The latest link, where only this machine can see it: no mail server, everything on loopback."),
});
export type Verification = z.output<typeof Verification>;

export const Verified = z.object({ verified: z.literal(true) });

export const VerificationLink = z.object({ state: z.enum(["open", "used", "expired", "unknown"]) });
export type VerificationLink = z.output<typeof VerificationLink>;

export const AccessToken = z
  .object({
    id: Id,
    name: z.string(),
    masked: z.string(),
    scope: z.enum(tokenScopes),
    expiresAt: Time.nullable(),
    lastUsedAt: Time.nullable(),
    createdAt: Time,
    status: z.enum(["active", "expired"]),
  })
  .meta({ id: "AccessToken" });
export type AccessToken = z.output<typeof AccessToken>;

export const CreatedAccessToken = AccessToken.extend({
  token: z.string().describe("The full token, shown only once."),
}).meta({ id: "CreatedAccessToken" });
export type CreatedAccessToken = z.output<typeof CreatedAccessToken>;
