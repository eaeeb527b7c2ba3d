// The verification mail: a link with a token that is kept nowhere, sent to the address it verifies.
import { createHash, randomBytes } from "node:crypto";
import { verificationMail } from "../../remote/mail/mails.ts";
import { type InsertedLink, insertEmailLink, markUnsent } from "../../store/accounts/email-links.ts";
import type { Deps } from "../deps.ts";

export type NewLink =
  | Exclude<InsertedLink, { state: "inserted" }>
  | { state: "inserted"; email: string; token: string };

/** Records a new link, unless its cooldown or its hourly limit forbids one now. */
export async function newLink(deps: Deps, accountId: string): Promise<NewLink> {
  const token = randomBytes(32).toString("base64url");
  const inserted = await insertEmailLink(deps.db, accountId, hashToken(token));
  return inserted.state === "inserted" ? { ...inserted, token } : inserted;
}

/** Sends it. A mail that nobody took counts toward no limit, and the refusal is passed on. */
export async function deliverLink(
  deps: Deps,
  { email, token }: { email: string; token: string },
): Promise<void> {
  const link = `${deps.config.baseUrl}/verify-email?token=${token}`;
  try {
    await deps.mailer.send(verificationMail({ to: email, link, validHours: 24 }));
  } catch (error) {
    await markUnsent(deps.db, hashToken(token));
    throw error;
  }
}

/** All that is stored of a link's token. Any text has a hash; one that was never sent is simply unknown. */
export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
