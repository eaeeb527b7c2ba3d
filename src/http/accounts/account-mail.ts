// Sends an email to the owner of an account.
import type { Mail } from "../../remote/mail/mailer.ts";
import { findAccountByEmail } from "../../store/accounts/accounts.ts";
import type { Deps } from "../frame/deps.ts";

/**
 * Like `send` of the mailer. An email that reaches the outbox when the deletion of its account has already emptied that is
 * deleted here: of the two, whichever ends last sees what the other did.
 */
export async function mailAccount({ db, mailer }: Pick<Deps, "db" | "mailer">, mail: Mail): Promise<void> {
  await mailer.send(mail);
  if (!(await findAccountByEmail(db, mail.to))) await mailer.forget(mail.to);
}
