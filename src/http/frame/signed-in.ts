// The account that a request is signed in as.
import type { Account } from "../../model/account.ts";
import { Refusal } from "../../model/refusal.ts";

/** Throws EMAIL_NOT_VERIFIED. `what` begins its message, as in "Agents can be called". */
export function requireVerified(account: Account, what: string): void {
  if (account.emailVerified) return;
  throw new Refusal("EMAIL_NOT_VERIFIED", {
    message: `${what} once your email is verified.`,
    hint: "Open the link in the verification email first.",
  });
}
