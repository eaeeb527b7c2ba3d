// Sends the verification email: a link with a token that is stored only as a hash.
import { createHash, randomBytes } from "node:crypto";
import { verificationMail } from "../../remote/mail/mails.ts";
import {
  deleteEmailLink,
  type InsertedLink,
  insertEmailLink,
  markUnsent,
} from "../../store/accounts/email-links.ts";
import type { Deps } from "../frame/deps.ts";
import { mailAccount } from "./account-mail.ts";
import { countVerificationEmail, uncountVerificationEmail } from "./attempt-limits.ts";

export type NewLink =
  | Exclude<InsertedLink, { state: "inserted" }>
  | { state: "inserted"; email: string; token: string };

/**
 * Inserts a new link, unless the cooldown or the hourly limit forbids it. The email has the same hourly limit as its account:
 * an account that is deleted and created again must not be a way around it.
 */
export async function newLink(deps: Deps, accountId: string): Promise<NewLink> {
  const token = randomBytes(32).toString("base64url");
  const inserted = await insertEmailLink(deps.db, accountId, hashToken(token));
  if (inserted.state !== "inserted") return inserted;
  const retryAfterSeconds = await countVerificationEmail(deps, inserted.email);
  if (retryAfterSeconds === null) return { ...inserted, token };
  await deleteEmailLink(deps.db, hashToken(token));
  return { state: "too_soon", retryAfterSeconds };
}

/** Sends the link. An email that the mail server does not accept counts toward no limit, and its error is rethrown. */
export async function deliverLink(
  deps: Deps,
  { email, token }: { email: string; token: string },
): Promise<void> {
  try {
    await mailAccount(deps, verificationMail({ to: email, link: linkOf(deps, { token }), validHours: 24 }));
  } catch (error) {
    await markUnsent(deps.db, hashToken(token));
    await uncountVerificationEmail(deps, email);
    throw error;
  }
}

export function linkOf({ config }: Deps, { token }: { token: string }): string {
  return `${config.baseUrl}/verify-email?token=${token}`;
}

/** Only this hash of a token is stored. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
