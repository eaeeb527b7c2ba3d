// The response schemas of accounts, sessions, email verification and access tokens.
import { z } from "zod";
import { Id, Time } from "../schemas.ts";

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

export const CurrentSession = z.looseObject({ user: User, session: Session }).nullable();
export type CurrentSession = z.output<typeof CurrentSession>;

export const Verification = z.object({
  email: z.string(),
  verified: z.boolean(),
  resendAllowedAt: Time.nullable().describe(
    "When the next email may be requested; null: now, or the email is verified.",
  ),
  mailServer: z
    .boolean()
    .describe("Whether emails are sent. Without a mail server, their links are in the service log."),
  baseUrl: z.string().describe("The origin of the links in emails, set by SVC_BASE_URL."),
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
